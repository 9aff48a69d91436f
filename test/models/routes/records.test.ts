import { beforeEach, expect, test } from '@jest/globals';
import { gate } from '../../support/gate.js';
import { until } from '../../support/until.js';
import { proxyOfFile, question } from './support.js';

// Invariants: concurrent records are neither lost nor mixed; no answer ends before its record is
// durable.

const proxy = proxyOfFile();
beforeEach(() => proxy.model.reply(({ body }) => ({ text: `to ${body.messages.at(-1)!.content}` })));
const asking = (content: string) => ({ ...question, messages: [{ role: 'user', content }] });

/** Holds every record back until `open` is called; `over`: the end of that. */
async function holdRecords(): Promise<{ open: () => void; over: Promise<unknown> }> {
  const [locked, released] = [gate(), gate()];
  const over = proxy.http.db.org('default', async (tx) => {
    await tx.query('lock table model_calls in share mode');
    locked.open();
    await released.opened;
  });
  await locked.opened;
  return { open: released.open, over };
}

test('the records of 60 calls at once are those of their rollouts', async () => {
  const jobs = await Promise.all([0, 1].map(() => proxy.newSession()));
  const rollouts = [];
  for (const job of jobs) for (let n = 0; n < 10; n += 1) rollouts.push({ job, id: await proxy.newRollout(job, n, 0) });
  const answers = await Promise.all(
    rollouts.flatMap(({ job, id }) =>
      ['a', 'b', 'b'].map(async (name) => {
        const answer = await proxy.post(job, `/${id}`, asking(`${id} ${name}`));
        const text = await answer.text();
        if (answer.status !== 200) return `${answer.status} ${text}`;
        return (JSON.parse(text) as { choices: { message: { content: string } }[] }).choices[0]!.message.content;
      }),
    ),
  );
  expect(answers).toEqual(rollouts.flatMap(({ id }) => ['a', 'b', 'b'].map((name) => `to ${id} ${name}`)));
  for (const job of jobs) {
    const calls = await proxy.calls(job);
    expect(calls).toHaveLength(30);
    const texts = calls.map(({ rollout_id: id, request, response, occurrence }) => {
      const asked = (request['messages'] as { content: string }[]).at(-1)!.content;
      expect(asked.startsWith(`${id} `)).toBe(true);
      expect(response!.choices![0]!.message.content).toBe(`to ${asked}`);
      return `${asked} ${occurrence}`;
    });
    const expected = rollouts
      .filter((one) => one.job === job)
      .flatMap(({ id }) => [`${id} a 0`, `${id} b 0`, `${id} b 1`]);
    expect(texts.sort()).toEqual(expected.sort());
  }
});

test.each([false, true])('no answer ends before its record is durable (streamed: %s)', async (stream) => {
  const job = await proxy.newSession();
  const ids = [await proxy.newRollout(job, 0, 0), await proxy.newRollout(job, 1, 0)];
  const held = await holdRecords();
  const sent = proxy.model.finished();
  let ended = 0;
  const bodies = ids.map(async (id) => {
    const answer = await proxy.post(job, `/${id}`, { ...question, stream });
    const text = await answer.text();
    ended += 1;
    return text;
  });
  await until('a record waits for the lock', async () => {
    const waiting = await proxy.http.db.worker((tx) =>
      tx.query(`select from pg_locks where not granted and relation = 'model_calls'::regclass`),
    );
    return waiting.length > 0 && proxy.model.finished() >= sent + 2;
  });
  expect(ended).toBe(0);
  expect(await proxy.calls(job)).toEqual([]);
  held.open();
  await held.over;
  for (const text of await Promise.all(bodies)) expect(text).toContain('card?');
  expect(await proxy.calls(job)).toHaveLength(2);
});
