// nginx in front of the processes: round robin, and another process when one cannot be reached.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@concordat/test-harness/fleet'
import { findProgram, nginx } from '../../scripts/services.ts'
import { Daemon } from './daemon.ts'

export interface Proxy {
  readonly daemon: Daemon
  readonly port: number
}

/** The header by which a client knows whether a response came from the service: without a number at its end, it is of nginx itself. */
export const originHeader = 'x-soak-upstream-time'

/** Starts nginx with its files in this folder. Returns undefined when it is not installed. */
export async function startProxy(folder: string, publicHost: string, ports: readonly number[]): Promise<Proxy | undefined> {
  const program = findProgram(nginx)
  if (program === undefined) return undefined
  const port = await freePort()
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/nginx-${name};`)
  const configuration = `
daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log stderr warn; ${process.getuid?.() === 0 ? 'user root;' : ''}
worker_rlimit_nofile 16384;
events { worker_connections 8192; }
http {
  access_log off; server_tokens off; ${temporary.join(' ')}
  keepalive_timeout 75s; client_header_timeout 20s; client_body_timeout 20s;
  upstream service {
    ${ports.map((one) => `server 127.0.0.1:${one} max_fails=1 fail_timeout=2s;`).join('\n    ')}
    keepalive 32;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    client_max_body_size 2m;
    location / {
      proxy_pass http://service;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host ${publicHost};
      proxy_set_header X-Forwarded-Host ${publicHost};
      proxy_set_header X-Forwarded-Proto https;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_next_upstream error timeout;
      proxy_connect_timeout 2s;
      proxy_read_timeout 60s;
      add_header X-Soak-Upstream-Time $upstream_header_time always;
    }
  }
}`
  writeFileSync(join(folder, 'nginx.conf'), configuration)
  const daemon = new Daemon({
    name: 'nginx',
    program,
    words: ['-p', folder, '-c', join(folder, 'nginx.conf')],
    cwd: folder,
    log: join(folder, 'nginx.log'),
    responds: async () => (await fetch(`http://127.0.0.1:${port}/health/live`)).status < 600
  })
  await daemon.start()
  return { daemon, port }
}
