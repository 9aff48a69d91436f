import { beforeAll, expect } from '@jest/globals';
import { eventSchemas } from '../../src/contracts/events/schema.js';
import { ended, evaluations, pathOf } from '../support/jobs-over-http.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { eventReaders } from './pins.js';
import { install } from './play.js';

// Readers of event streams, which begin, resume and end as the standard says.

const on = serviceOfFile();
let id: string;
beforeAll(async () => {
  const created = await on.service.api.call<{ job_id: string }>('POST', evaluations, {
    dataset: { rows: [1, 2, 3].map((n) => ({ input: `${n} + 1`, expected: String(n + 1) })) },
    scorer: 'exact',
    policy: { provider: 'local', model: 'local' },
    candidate: { messages: [{ role: 'user', content: '{{input}}' }] },
  });
  id = created.job_id;
  await ended(on.service, id);
}, 60_000);

for (const reader of eventReaders) {
  const { test, play } = install(reader);

  test(`${reader.name} ${reader.version} for ${reader.language}`, async () => {
    const { events } = await on.service.api.call<{ events: { seq: number; type: string }[] }>(
      'GET',
      `${pathOf(id)}/events?since_seq=0`,
    );
    const types = eventSchemas.map((schema) => schema.meta()!.title);
    const input = { url: `${on.service.url}${pathOf(id)}/events`, key: on.service.apiKey, types };
    expect(await play(reader.module, [], input)).toEqual({
      events: events.map(({ seq, type }) => [String(seq), type, type]),
      ended: 204,
    });
  }, 120_000);
}
