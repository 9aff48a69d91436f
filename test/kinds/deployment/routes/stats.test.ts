import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { startOf } from '../../../../src/core/deployments/periods.js';
import { writeCounters } from '../../../../src/kinds/deployment/store/counters.js';
import { deleteOldTraffic } from '../../../../src/retention/store/orgs.js';
import { counterOf } from '../../../support/counters.js';
import { deployments as base } from '../../../support/jobs-over-http.js';
import { deploymentsOfFile, question } from './support.js';

const it = deploymentsOfFile();
afterEach(() => {
  jest.restoreAllMocks();
});

const get = async (ref: string, below: string) => (await it.http.call('GET', `${base}/${ref}/${below}`)).body;
/** Sends a request at a time. */
async function askAt(time: string, ref: string): Promise<string> {
  const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.parse(time));
  const answer = await it.ask(ref, question);
  clock.mockRestore();
  return ((await answer.json()) as { id: string }).id;
}
const day = (time: string) => `2026-03-04T${time}.000Z`;
const within = `from=${day('00:00:00')}&to=${day('23:59:59')}`;

describe('failed requests', () => {
  test('are counted by code, and the latest are kept with their cause', async () => {
    const id = await it.deploy('failing');
    const refusals = [
      { status: 429, raw: JSON.stringify({ error: { message: 'Slow down.', code: 'rate_limit_exceeded' } }) },
      { status: 503, raw: 'busy' },
      { raw: '{"choices":[]}' },
      { raw: '{}', status: 429 },
    ];
    const told = [];
    for (const reply of refusals) {
      it.model.reply(() => reply);
      const answer = await it.ask('failing', question);
      const { error } = (await answer.json()) as { error: { code: string; message: string } };
      told.push({ answer_id: answer.headers.get('x-ratchet-answer-id'), code: error.code, message: error.message });
    }
    it.model.reply(() => ({}));
    await it.ask('failing', question);
    const codes: Record<string, number> = {};
    for (const { code } of told) codes[code] = (codes[code] ?? 0) + 1;
    expect(await get(id, 'stats')).toMatchObject({ requests: 5, errors: 4, errors_by_code: codes });
    const { data } = await get('failing', 'failures');
    expect(data).toMatchObject(told.toReversed());
    expect(data.map(({ status }: { status: number }) => status).includes(200)).toBe(false);
  });

  test('of a broken stream are among them, those of callers who left are not', async () => {
    const id = await it.deploy('streaming');
    it.model.reply(() => ({ text: 'one two three', cutAfter: 2 }));
    await (await it.ask('streaming', { ...question, stream: true })).text();
    expect((await get(id, 'failures')).data).toMatchObject([{ status: 502, code: 'upstream_connection_lost' }]);
  });

  test('may have any code, and do not keep others from being counted', async () => {
    const id = await it.deploy('coded');
    const sent = ['a\u0000b', 'constructor', '__proto__', `${'x'.repeat(63)}\u{1f600}`, '', 'fine-code.1'];
    for (const code of sent) {
      it.model.reply(() => ({ status: 400, raw: JSON.stringify({ error: { message: 'a\u0000b', code } }) }));
      await it.ask('coded', question);
    }
    expect(await get(id, 'stats')).toMatchObject({
      errors: 6,
      errors_by_code: { http_400: 4, constructor: 1, 'fine-code.1': 1 },
    });
    expect((await get(id, 'failures')).data).toHaveLength(6);
  });

  test('are the latest 50', async () => {
    const id = await it.deploy('failing-often');
    let n = 0;
    it.model.reply(() => ({ status: 400, raw: JSON.stringify({ error: { message: `no ${(n += 1)}` } }) }));
    const ids = [];
    for (let batch = 0; batch < 6; batch += 1) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => it.ask('failing-often', question)));
      ids.push(...answers.map(({ headers }) => headers.get('x-ratchet-answer-id')));
    }
    const { data } = await get(id, 'failures');
    expect(data).toHaveLength(50);
    expect(new Set(data.map((one: { answer_id: string }) => one.answer_id))).toEqual(new Set(ids.slice(10)));
    expect(await get(id, 'stats')).toMatchObject({ errors: 60 });
    const stored = 'select 1 from deployment_failures where deployment_id = $1';
    expect(await it.http.db.org('default', (tx) => tx.query(stored, [id]))).toHaveLength(50);
  });
});

describe('the history', () => {
  test('has each request in one hour and in one minute, by deployment', async () => {
    const first = await it.deploy('dated');
    const times = ['10:00:00', '10:00:59', '10:01:00', '11:30:00', '10:00:30'];
    for (const time of times) await askAt(day(time), 'dated');
    const second = await it.deploy('dated');
    await askAt(day('11:30:10'), 'dated');
    const shown = async (ref: string, per: string) =>
      (await get(ref, `history?per=${per}&${within}`)).data.map(
        ({ start, deployment_id, requests }: Record<string, unknown>) => [start, deployment_id, requests],
      );
    expect(await shown('dated', 'hour')).toEqual([
      [day('10:00:00'), first, 4],
      [day('11:00:00'), first, 1],
      [day('11:00:00'), second, 1],
    ]);
    expect(await shown(first, 'minute')).toEqual([
      [day('10:00:00'), first, 3],
      [day('10:01:00'), first, 1],
      [day('11:30:00'), first, 1],
    ]);
    expect(await get(first, 'stats')).toMatchObject({ requests: 5 });
  });

  test('has feedback in the period of its answer', async () => {
    const id = await it.deploy('felt');
    const answers = [await askAt(day('08:15:00'), 'felt'), await askAt(day('09:15:00'), 'felt')];
    for (const [reward, answer_id] of answers.entries())
      await it.http.call('POST', `${base}/felt/feedback`, { answer_id, reward });
    expect((await get(id, `history?${within}`)).data).toMatchObject([
      { start: day('08:00:00'), requests: 1, metrics: { reward: { count: 1, mean: 0 } } },
      { start: day('09:00:00'), requests: 1, metrics: { reward: { count: 1, mean: 1 } } },
    ]);
    expect((await get(id, 'stats')).metrics).toMatchObject({ reward: { count: 2, mean: 0.5 } });
  });

  test('keeps minutes for a day and hours for a year', async () => {
    const id = await it.deploy('ageing');
    for (const time of ['10:00:00', '12:00:00']) await askAt(day(time), 'ageing');
    const count = async (per: string) => (await get(id, `history?per=${per}&${within}`)).data.length;
    await deleteOldTraffic(it.http.db, 'default', Date.parse('2026-03-05T11:00:00Z'));
    expect([await count('hour'), await count('minute')]).toEqual([2, 1]);
    await deleteOldTraffic(it.http.db, 'default', Date.parse('2027-03-06T11:00:00Z'));
    expect([await count('hour'), await count('minute')]).toEqual([0, 0]);
    expect(await get(id, 'stats')).toMatchObject({ requests: 2 });
  });

  test('comes in parts where many processes answered', async () => {
    const id = await it.deploy('many');
    const hours = Array.from({ length: 60 }, (_, hour) =>
      startOf('hour', Date.parse(day('00:00:00')) + hour * 3_600_000),
    );
    const counters = hours.flatMap((start) =>
      Array.from({ length: 20 }, (_, process) =>
        counterOf({ deploymentId: id, width: 'hour', start, counterId: `p${process}`, requests: 1 }),
      ),
    );
    await it.http.db.org('default', (tx) => writeCounters(tx, 'default', { counters }));
    const query = (from: string) => `history?from=${from}&to=${hours.at(-1)!}`;
    const first = await get(id, query(hours[0]!));
    expect(first).toMatchObject({ next_from: hours[50] });
    const rest = await get(id, query(first.next_from));
    expect(rest.next_from).toBeNull();
    const all = [...first.data, ...rest.data];
    expect(all.map(({ start, requests }) => [start, requests])).toEqual(hours.slice(0, -1).map((start) => [start, 20]));
  });

  test('refuses an end before the beginning', async () => {
    const id = await it.deploy('bounded');
    const codeOf = async (query: string) => (await get(id, `history?${query}`)).code;
    expect(await codeOf(`from=2026-03-05T00:00:00Z&to=2026-03-04T00:00:00Z`)).toBe('validation_failed');
    expect(await codeOf('per=day')).toBe('validation_failed');
    expect(await get(id, 'history')).toMatchObject({ per: 'hour', data: [] });
  });
});
