import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { consume, post } from '../../../../src/model/transport.ts';

test('calls in a row share a connection, though the body ends in a packet after its last event', async () => {
  let connections = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: [DONE]\n\n', () => setImmediate(() => response.end()));
    });
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const url = new URL(`http://127.0.0.1:${address.port}/v1/chat/completions`);
  for (let call = 0; call < 5; call += 1) {
    const response = await post({ url, apiKey: 'k', body: '{}', signal: new AbortController().signal });
    await consume(response, () => undefined);
  }
  server.closeAllConnections();
  server.close();
  expect(connections).toBe(1);
});
