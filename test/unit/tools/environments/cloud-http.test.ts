import { afterEach, expect, test } from 'vitest';
import { createCloudClient } from '../../../../tools/environments/cloud-http.ts';
import { answerJson, type HttpHost, startHttp } from '../../../emulators/emulator.ts';

type Handler = Parameters<typeof startHttp>[0];

const hosts: HttpHost[] = [];
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.close();
});

const token = 'token-0123456789';

async function serve(handle: Handler) {
  const host = await startHttp(handle);
  hosts.push(host);
  const mends = { unauthorized: 'U', forbidden: 'F', quota: 'Q', unreachable: 'N' };
  const service = { name: 'Service', baseUrl: `${host.url}/base`, token, credential: 'SERVICE_KEY', mends };
  return { host, client: createCloudClient(service) };
}

test('the credential goes with each call, below the base address', async () => {
  const { client } = await serve(async ({ url, headers }, response) =>
    answerJson(response, 200, { url, token: headers.authorization }),
  );
  const answer = await client.ask('look', '/path', { query: { a: 'b c' } });
  expect(JSON.parse(answer)).toEqual({ url: '/base/path?a=b+c', token: `Bearer ${token}` });
});

test('who does not answer in time is told, and not waited for again', async () => {
  let calls = 0;
  const { client } = await serve(async () => {
    calls += 1;
  });
  await expect(client.ask('look', '/', { limitMs: 100 })).rejects.toMatchObject({
    status: null,
    message: expect.stringContaining('no answer in time'),
  });
  expect(calls).toBe(1);
});

test('a pause that the service asks for is kept, unless it is long', async () => {
  let calls = 0;
  const { client } = await serve(async (_request, response) => {
    calls += 1;
    response.setHeader('retry-after', calls === 1 ? '1' : '21');
    answerJson(response, 429, {});
  });
  const from = performance.now();
  await expect(client.ask('look', '/')).rejects.toMatchObject({
    status: 429,
    retryAfterMs: 21_000,
    mend: 'Q',
  });
  expect(performance.now() - from).toBeGreaterThan(900);
  expect(calls).toBe(2);
});

test('a call ends when its signal does, with its reason', async () => {
  const { client } = await serve(async () => undefined);
  const stop = new AbortController();
  const asked = client.ask('look', '/', { signal: stop.signal });
  stop.abort(new Error('enough'));
  await expect(asked).rejects.toThrow('enough');
});

test('a redirection is refused: the credential has no business elsewhere', async () => {
  const elsewhere: (string | undefined)[] = [];
  const other = await serve(async ({ headers }, response) => {
    elsewhere.push(headers.authorization);
    answerJson(response, 200, {});
  });
  const { client } = await serve(async (_request, response) => {
    response.writeHead(302, { location: `${other.host.url}/` }).end();
  });
  await expect(client.ask('look', '/')).rejects.toMatchObject({ status: null });
  expect(elsewhere).toEqual([]);
});

test('an address that the service names is not asked in the clear where the service itself is encrypted', async () => {
  const mends = { unauthorized: 'U', forbidden: 'F', quota: 'Q', unreachable: 'N' };
  const service = {
    name: 'Service',
    baseUrl: 'https://service.test',
    token,
    credential: 'SERVICE_KEY',
    mends,
  };
  await expect(createCloudClient(service).ask('look', 'http://127.0.0.1:2/')).rejects.toMatchObject({
    code: 'environment_refused',
  });
});

test.each([
  { says: 'a message', body: JSON.stringify({ message: 'no room' }), told: ': no room' },
  {
    says: 'an error with a message',
    body: JSON.stringify({ error: { message: 'no room' } }),
    told: ': no room',
  },
  { says: 'a text', body: 'no room', told: ': no room' },
  { says: 'the token itself', body: `bad ${token}`, told: ': bad [redacted]' },
  { says: 'a page', body: '<html>no room</html>', told: '' },
  { says: 'nothing', body: '', told: '' },
])('a refusal that says $says is told by it', async ({ body, told }) => {
  const { client } = await serve(async (_request, response) => void response.writeHead(400).end(body));
  await expect(client.ask('look', '/')).rejects.toMatchObject({
    message: `Service refused (look) with 400${told}`,
  });
});
