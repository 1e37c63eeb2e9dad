// For `node --import`: every module of the process gets the packages that are installed in the folder OTHER_VERSIONS, instead of the installed versions.
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'

const manifest = join(String(process.env['OTHER_VERSIONS']), 'package.json')
const names = Object.keys(JSON.parse(readFileSync(manifest, 'utf8')).dependencies)
const parentURL = pathToFileURL(manifest).href
const folder = new URL('.', parentURL).href

registerHooks({
  resolve(specifier, context, next) {
    const isOther = names.some((name) => specifier === name || specifier.startsWith(`${name}/`))
    // What is installed there finds its own dependencies.
    return next(specifier, isOther && context.parentURL?.startsWith(folder) !== true ? { ...context, parentURL } : context)
  }
})
