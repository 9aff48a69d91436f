import { beforeAll, describe, expect, test } from '@jest/globals';
import { deployments } from '../../support/jobs-over-http.js';
import { schedules } from '../../support/schedules-over-http.js';
import { deploymentsOfFile } from '../../kinds/deployment/routes/support.js';
import { checkup } from '../support.js';

// Invariants: what is wrong is refused when a schedule is made or changed, at its field; a change
// keeps what it does not name; a schedule ends with the last deployment of its name.

const it = deploymentsOfFile();
const of = (name: string) => `${deployments}/${name}/schedules`;
const weekly = { cron: '0 3 * * 1', checkup };
const make = (name: string, body: object = weekly) => it.http.call('POST', of(name), body);
const made = async (name: string, body: object = weekly): Promise<string> => {
  const { status, body: answer } = await make(name, body);
  if (status !== 201) throw new Error(JSON.stringify(answer));
  return answer.schedule_id;
};
const read = (id: string) => it.http.call('GET', `${schedules}/${id}`);
const change = (id: string, body: object) => it.http.call('PATCH', `${schedules}/${id}`, body);

beforeAll(async () => {
  await it.deploy('support');
});

describe('a create', () => {
  test('answers the schedule, and when it runs', async () => {
    const labels = { tags: ['night'], metadata: { team: 'search' }, notes: 'Ask Ada.' };
    const more = { timezone: 'Europe/Berlin', max_cost_usd_per_month: 5, webhook_url: 'http://127.0.0.1:9/token' };
    const { status, body, headers } = await make('support', { ...weekly, ...labels, ...more });
    expect([status, headers['location']]).toEqual([201, `${schedules}/${body.schedule_id}`]);
    expect(body.schedule_id).toMatch(/^sch_[0-9a-f]{32}$/);
    const expected = {
      name: 'support',
      cron: '0 3 * * 1',
      every: null,
      timezone: 'Europe/Berlin',
      max_cost_usd_per_month: 5,
      spent_this_month_usd: 0,
      paused: false,
      paused_in_temporal: false,
      next_run_at: '2030-01-01T03:00:00.000Z',
      ...labels,
      webhook_origin: 'http://127.0.0.1:9',
      created_by: { key_id: 'bootstrap_default', key_name: 'bootstrap' },
      last_runs: [],
    };
    expect(body).toMatchObject(expected);
    expect(JSON.stringify(body)).not.toContain('/token');
    expect((await read(body.schedule_id)).body).toMatchObject(expected);
    expect((await it.http.call('GET', of('support'))).body.data[0].schedule_id).toBe(body.schedule_id);
    const { data } = (await it.http.call('GET', schedules)).body;
    expect(data[0]).toMatchObject({ schedule_id: body.schedule_id, name: 'support', cron: '0 3 * * 1' });
    expect(data[0].checkup).toBeUndefined();
  });

  test('keeps the order of the fields of its rows: they are the data set that a gate has', async () => {
    const rows = [
      { question: 'Row 0', answer: 'yes' },
      { question: 'Row 1', answer: 'no' },
    ];
    const dataset = { rows, input: 'question', expected: 'answer' };
    const id = await made('support', { every: '1d', checkup: { rows: { dataset, scorer: 'exact' }, traffic: null } });
    expect(JSON.stringify((await read(id)).body.checkup.rows.dataset.rows)).toBe(JSON.stringify(rows));
  });

  test('under an Idempotency-Key makes one schedule', async () => {
    await it.deploy('once');
    const headers = { 'idempotency-key': 'schedule-once' };
    const [first, second] = [
      await it.http.call('POST', of('once'), weekly, headers),
      await it.http.call('POST', of('once'), weekly, headers),
    ];
    expect(second.body).toEqual(first.body);
    expect((await it.http.call('GET', of('once'))).body.data).toHaveLength(1);
  });

  const refused: [string, object, string][] = [
    ['neither cron nor every', { cron: undefined }, ''],
    ['both', { every: '1d' }, ''],
    ['a wrong cron expression', { cron: '0 25 * * *' }, '/cron'],
    ['a cron expression that never comes due', { cron: '0 0 30 2 *' }, '/cron'],
    ['a wrong time', { cron: undefined, every: 'day' }, '/every'],
    ['a time below a minute', { cron: undefined, every: '59s' }, '/every'],
    ['an unknown time zone', { timezone: 'Europe/Nowhere' }, '/timezone'],
    ['an offset', { timezone: '+01:00' }, '/timezone'],
    ['a time zone without cron', { cron: undefined, every: '1d', timezone: 'UTC' }, '/timezone'],
    ['no dollars', { max_cost_usd_per_month: 0 }, '/max_cost_usd_per_month'],
    ['a webhook that may not be called', { webhook_url: 'ftp://x' }, '/webhook_url'],
    ['an unknown field', { crn: '* * * * *' }, '/crn'],
    ['a wrong field of the checkup', { checkup: { ...checkup, max_concurrent: 0 } }, '/checkup/max_concurrent'],
    [
      'an unknown column of the checkup',
      { checkup: { rows: { ...checkup.rows, dataset: { ...checkup.rows.dataset, input: 'nothing' } } } },
      '/checkup/rows/dataset/input',
    ],
  ];
  test.each(refused)('with %s is refused', async (_, body, pointer) => {
    const answer = await make('support', { ...weekly, ...body });
    expect([answer.status, answer.body.errors?.[0]?.pointer]).toEqual([422, pointer]);
  });

  test('takes 59 minutes and 60 seconds', async () => {
    for (const every of ['60s', '1m', '59m', '999999d'])
      expect((await make('support', { every, checkup })).status).toBe(201);
  });

  test('of an unknown name is 404, and of one that serves nothing, too', async () => {
    expect((await make('nobody')).status).toBe(404);
    it.held = true;
    await it.deploy('building');
    expect((await make('building')).status).toBe(404);
  });

  test('is refused beyond fifty schedules of a name', async () => {
    await it.deploy('busy');
    for (let n = 0; n < 50; n++) await made('busy', { ...weekly, paused: true });
    const { status, body } = await make('busy');
    expect([status, body.code]).toEqual([409, 'too_many_schedules']);
  });
});

describe('a change', () => {
  test('that Temporal does not have yet says no next run', async () => {
    const id = await made('support', weekly);
    it.http.scheduler.isReachable = false;
    expect((await change(id, { cron: '0 5 * * *' })).body).toMatchObject({ cron: '0 5 * * *', next_run_at: null });
    it.http.scheduler.isReachable = true;
    expect((await change(id, { cron: '0 6 * * *' })).body.next_run_at).toBe('2030-01-01T03:00:00.000Z');
  });

  test('keeps what it does not name, and replaces one time by another', async () => {
    const id = await made('support', { ...weekly, timezone: 'Europe/Berlin', tags: ['a'], max_cost_usd_per_month: 1 });
    const cron = await change(id, { cron: '*/10 * * * *' });
    expect(cron.body).toMatchObject({ cron: '*/10 * * * *', timezone: 'Europe/Berlin', tags: ['a'] });
    const every = await change(id, { every: '6h', paused: true });
    expect(every.body).toMatchObject({ cron: null, every: '6h', timezone: null, paused: true, next_run_at: null });
    expect((await change(id, { timezone: 'UTC' })).body.errors[0].pointer).toBe('/timezone');
    const zone = await change(id, { cron: '0 0 * * *', timezone: 'Asia/Tokyo', max_cost_usd_per_month: null });
    expect(zone.body).toMatchObject({ timezone: 'Asia/Tokyo', max_cost_usd_per_month: null, paused: true });
    expect((await change(id, { timezone: null })).body.timezone).toBe('UTC');
    expect((await change(id, { paused: false })).body).toMatchObject({ paused: false, tags: ['a'], cron: '0 0 * * *' });
    expect(it.http.scheduler.synced.filter((one) => one === id)).toHaveLength(6);
  });

  test.each<[object, string]>([
    [{}, ''],
    [{ cron: '0 0 * * *', every: '1h' }, ''],
    [{ cron: 'x' }, '/cron'],
    [
      { checkup: { rows: { ...checkup.rows, dataset: { ...checkup.rows.dataset, input: 'nothing' } } } },
      '/checkup/rows/dataset/input',
    ],
    [{ webhook_url: 'ftp://x' }, '/webhook_url'],
  ])('%j is refused', async (body, pointer) => {
    const id = await made('support');
    const answer = await change(id, body);
    expect([answer.status, answer.body.errors?.[0]?.pointer]).toEqual([422, pointer]);
    expect((await read(id)).body.cron).toBe('0 3 * * 1');
  });
});

describe('the end of a schedule', () => {
  test('is its deletion, after which it is unknown', async () => {
    const id = await made('support');
    expect((await it.http.call('DELETE', `${schedules}/${id}`)).status).toBe(204);
    for (const method of ['GET', 'DELETE'] as const)
      expect((await it.http.call(method, `${schedules}/${id}`)).status).toBe(404);
    expect((await change(id, { paused: true })).status).toBe(404);
    expect((await it.http.call('POST', `${schedules}/${id}/run`)).status).toBe(404);
  });

  test('comes with that of the last deployment of its name', async () => {
    const [first, second] = [await it.deploy('ending', 'one'), await it.deploy('ending', 'two')];
    const id = await made('ending');
    await it.http.call('DELETE', `${deployments}/${second}`);
    expect((await read(id)).status).toBe(200);
    await it.http.call('DELETE', `${deployments}/${first}`);
    expect((await read(id)).status).toBe(404);
  });
});

test('lists come in pages', async () => {
  await it.deploy('paged');
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.unshift(await made('paged'));
  const first = (await it.http.call('GET', `${of('paged')}?limit=2`)).body;
  const second = (await it.http.call('GET', `${of('paged')}?limit=2&cursor=${first.next_cursor}`)).body;
  expect([...first.data, ...second.data].map((one: { schedule_id: string }) => one.schedule_id)).toEqual(ids);
  expect([first.has_more, second.has_more]).toEqual([true, false]);
});
