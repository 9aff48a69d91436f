import { expect } from '@jest/globals';
import type { Answer } from '../../src/client/index.js';
import type { TestService } from './service.js';

export type Tried = Answer<'tryPrompt'>;

/** Requests to try a prompt or a graph, and what refuses them before a call of a model. */
export function triesOf(on: { service: TestService; world: { model: { requests: unknown[] } } }) {
  const send = (given: object, headers: Record<string, string> = {}) =>
    fetch(`${on.service.url}/api/v1/try`, {
      method: 'POST',
      headers: { authorization: `Bearer ${on.service.apiKey}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(given),
    });
  return {
    send,
    async tried(given: object): Promise<Tried> {
      const answer = await send(given);
      expect(answer.status).toBe(200);
      return (await answer.json()) as Tried;
    },
    async isRefusedAt(given: object, pointer: string): Promise<void> {
      const answer = await send(given);
      expect(answer.status).toBe(422);
      const { errors } = (await answer.json()) as { errors: { pointer: string }[] };
      expect(errors.map((error) => error.pointer)).toContain(pointer);
      expect(on.world.model.requests).toEqual([]);
    },
    async isRefusedBySpentQuota(given: object): Promise<void> {
      await on.service.api.call('PUT', '/api/v1/admin/limits', { spend_usd_per_day: 0 });
      try {
        const answer = await send(given);
        expect(answer.status).toBe(429);
        expect(await answer.json()).toMatchObject({ code: 'quota_exceeded', quota: 'spend_usd_per_day' });
        expect(on.world.model.requests).toEqual([]);
      } finally {
        await on.service.api.call('PUT', '/api/v1/admin/limits', {});
      }
    },
  };
}
