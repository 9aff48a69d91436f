/** The packages that cannot import the service's table of passing refusals have the same one. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { RatchetError } from '../../../src/client/errors.js';
import { withRetries } from '../../../src/client/retry.js';
import { isPushback, mayPass } from '../../../src/clients/net/retry-advice.js';
import { callModel, ModelError } from '../../../src/container/model.js';

const statuses = [...Array(200).keys()].map((at) => 400 + at);
const advices = [null, 'true', 'false'] as const;
const advised = (advice: (typeof advices)[number]) => ({ shouldRetry: advice === null ? null : advice === 'true' });

let server: Server;
beforeAll(async () => {
  server = createServer(({ url }, response) => {
    const [, status, advice] = /\/(\d+)\/(\w*)/.exec(url!)!;
    const headers = { 'retry-after': '7', ...(advice !== '' && { 'x-should-retry': advice }) };
    response.writeHead(Number(status), headers).end('no');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => void server.close());

test.each(advices)('a container asks for another try as the table says (x-should-retry: %s)', async (advice) => {
  const signal = new AbortController().signal;
  for (const status of statuses) {
    const inferenceUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${status}/${advice ?? ''}`;
    const error: unknown = await callModel(
      { inferenceUrl, inferenceApiKey: null, modelParams: {} },
      [],
      {},
      signal,
    ).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ModelError);
    const passes = mayPass(status, advised(advice)) && (status !== 409 || advice === 'true');
    const expected = !passes ? null : isPushback(status) ? 503 : 502;
    expect([status, (error as ModelError).retryStatus]).toEqual([status, expected]);
    expect((error as ModelError).retryAfter).toBe(expected === 503 ? '7' : null);
  }
});

test.each(advices)('the client repeats what the table says, but a conflict (x-should-retry: %s)', async (advice) => {
  const headers = new Headers(advice === null ? {} : { 'x-should-retry': advice });
  const triesOf = async (status: number, isRepeatable: boolean) => {
    let tries = 0;
    await withRetries({ isRepeatable, maxRetries: 1, signal: undefined }, () => {
      tries += 1;
      return Promise.reject(new RatchetError('no', { code: 'refused', status, headers }));
    }).catch(() => undefined);
    return tries;
  };
  for (const isRepeatable of [true, false]) {
    const tries = await Promise.all(statuses.map((status) => triesOf(status, isRepeatable)));
    const expected = statuses.map((status) => {
      if (advice !== null) return advice === 'true' ? 2 : 1;
      const passes = mayPass(status, advised(null)) && status !== 409;
      // What may have done its work is not done again.
      return passes && (isRepeatable || status === 429 || status === 498) ? 2 : 1;
    });
    expect(tries).toEqual(expected);
  }
});
