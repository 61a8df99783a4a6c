/** A process that takes spans by OTLP over HTTP and drops them: an exporter that is waited for costs more than one that is answered. */
import { createServer } from 'node:http'

const port = Number(process.argv[2])
let requests = 0
let bytes = 0

createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify({ requests, bytes }))
    return
  }
  requests += 1
  request.on('data', (piece: Buffer) => {
    bytes += piece.length
  })
  request.on('end', () => response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end())
}).listen(port, '127.0.0.1')
