// NestJS on its Fastify adapter, with the log of Fastify. Decorators are called as functions, because this file is not compiled.
import 'reflect-metadata'
import { Controller, Get, Module, NotFoundException, Param, Req } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { logStream, products, productsById } from '../resources.ts'
import { bearer, enveloped, notFound } from './hand-written.mjs'

class Products {
  one(id, { url }) {
    const found = productsById.get(id)
    if (found === undefined) throw new NotFoundException(notFound('GET', url))
    return enveloped('GET', url, found)
  }
  all({ url }) {
    return enveloped('GET', url, products)
  }
}
class Main {}

export async function serve() {
  const on = (name) => Object.getOwnPropertyDescriptor(Products.prototype, name)
  Controller('/v1/products')(Products)
  Get(':id')(Products.prototype, 'one', on('one'))
  Get()(Products.prototype, 'all', on('all'))
  Param('id')(Products.prototype, 'one', 0)
  Req()(Products.prototype, 'one', 1)
  Req()(Products.prototype, 'all', 0)
  Module({ controllers: [Products] })(Main)
  const app = await NestFactory.create(Main, new FastifyAdapter({ logger: { level: 'info', stream: logStream() } }), { logger: false })
  return {
    listen: async () => {
      await app.listen(0, '127.0.0.1')
      return app.getUrl()
    },
    headers: bearer()
  }
}
