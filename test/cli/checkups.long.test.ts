import { afterEach, expect, test } from '@jest/globals';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { askedOf, readCheckup } from '../support/checkups-over-http.js';
import { built, deploy, saying } from '../support/deployments-over-http.js';
import { checkedUp } from '../support/checkups-over-http.js';
import { startCommand } from '../support/servers/command.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { agingModels as models, gateRows, startAgingWorld } from '../support/worlds/aging.js';
import { rowsBaseline } from '../support/worlds/rows.js';

// Commands about checkups, improvements and schedules, on a service whose model gets worse.

const cli = join(import.meta.dirname, '../../dist/src/cli/ratchet.js');
const on = serviceOfFile(startAgingWorld);
afterEach(() => on.world.reset());

async function ratchet(...args: string[]) {
  const { url, apiKey } = on.service;
  const env = { RATCHET_URL: url, RATCHET_API_KEY: apiKey };
  const command = startCommand([process.execPath, cli, ...args], tmpdir(), env);
  return { code: await command.ended, out: command.out(), err: command.err() };
}

async function live(name: string): Promise<void> {
  const gate = { ...gateRows(on.world, 40), min_reward: 0.5, seeds: '0-19', preflight: false };
  const id = await deploy(on.service, { name, source: saying(rowsBaseline, models.live), log: {}, gate });
  await built(on.service, id);
}
const idIn = (text: string) => /chk_[0-9a-f]{32}/.exec(text)![0];
const search = ['--answers-count', '--proposer', 'fake/proposer'];

test('checkup prints each part, and ends with 1 if what is live is worse; improve and approve mend it', async () => {
  await live('support');
  await askedOf(on.service, 'support', 40);
  const same = await ratchet('checkup', 'support', '--max-change', '0.3', '--answers-count', '--requests', '40');
  expect(same).toMatchObject({ code: 0 });
  expect(same.out).toMatch(/^Rows: same: 0\.000 \(95 %: .+\) on 20$/m);
  expect(same.out).toMatch(/^Recent requests: first: 1\.000 .*on 40; /m);
  expect(same.err).toContain(`/#/checkups/${idIn(same.err)}`);

  on.world.age();
  const worse = await ratchet('checkup', 'support', '--json');
  expect(worse.code).toBe(1);
  const found = JSON.parse(worse.out) as { job_id: string };
  expect(found).toMatchObject({ verdict: 'worse', improve: null, rows: { difference: -1, rows_worse: 20 } });
  expect(await ratchet('results', found.job_id)).toMatchObject({ code: 0, out: worse.out });
  const listed = JSON.parse((await ratchet('list', '--json')).out) as { job_id: string }[];
  expect(listed.map(({ job_id: id }) => id)).toContain(found.job_id);
  const watched = await ratchet('watch', found.job_id);
  expect({ ...watched, out: JSON.parse(watched.out) as object }).toMatchObject({ code: 0, out: { verdict: 'worse' } });

  const improved = await ratchet('improve', 'support', ...search, '--requests', '40', '--require-approval');
  const id = idIn(improved.err);
  expect(improved.out).toMatch(/^New prompt: better: \+1\.000 \(95 %: .+\) on 20 requests$/m);
  expect(improved.out).toContain(`Next: ratchet approve ${id}\n`);
  const approved = await ratchet('approve', id, '--reason', 'looks right');
  const { approval, deployment_id: deployed } = await readCheckup(on.service, id);
  expect(approval).toBe('approved');
  expect(approved).toMatchObject({ code: 0, out: expect.stringContaining(`deployed as ${deployed}.\n`) });
  const rejected = await ratchet('approve', id, '--reject');
  expect(rejected).toMatchObject({ code: 1, err: expect.stringContaining('is approved') });
}, 300_000);

test('options that do not fit are refused before anything is spent', async () => {
  await live('strict');
  const before = on.world.model.requests.length;
  const refused = [
    ['checkup', 'strict', '--proposer', 'fake/proposer'],
    ['checkup', 'strict', '--no-deploy'],
    ['checkup', 'strict', '--max-age', 'soon'],
    ['improve', 'strict', '--requests', '5000'],
    ['checkup', 'strict', '--improve', 'always', '--proposer', 'nobody/model'],
    ['schedules', 'create', 'strict'],
    ['schedules', 'create', 'strict', '--cron', 'now'],
    ['schedules', 'create', 'strict', '--every', '1d', '--timezone', 'Europe/Berlin'],
    ['schedules', 'create', 'strict', '--every', '1d', '--max-cost-per-month', '5'],
    ['approve', 'ses_0123'],
  ];
  const answers = await Promise.all(refused.map((args) => ratchet(...args)));
  const options = answers.map(({ code, err }) => [code, /ratchet: (--[a-z-]+)/.exec(err)?.[1] ?? null]);
  expect(options).toEqual([
    [2, '--proposer'],
    [2, '--no-deploy'],
    [2, '--max-age'],
    [2, '--requests'],
    [2, '--proposer'],
    [2, null],
    [2, '--cron'],
    [2, '--timezone'],
    [2, '--max-cost-per-month'],
    [2, null],
  ]);
  expect(on.world.model.requests.length).toBe(before);
  const few = await ratchet('improve', 'strict');
  expect(few).toMatchObject({ code: 1, err: expect.stringContaining('20 are needed') });
}, 120_000);

test('schedules are created, listed, paused, run and deleted', async () => {
  await live('nightly');
  const options = ['--cron', '0 3 * * 1', '--timezone', 'Europe/Berlin', '--max-change', '0.3'];
  const created = await ratchet('schedules', 'create', 'nightly', ...options, '--json');
  expect(created).toMatchObject({ code: 0 });
  const { schedule_id: id } = JSON.parse(created.out) as { schedule_id: string };
  expect(JSON.parse(created.out)).toMatchObject({ cron: '0 3 * * 1', checkup: { max_change: 0.3 } });
  const row = new RegExp(`^${id} +nightly +0 3 \\* \\* 1 Europe/Berlin +\\S+ 0[12]:00 +\\$0\\.0000$`, 'm');
  expect((await ratchet('schedules', 'nightly')).out).toMatch(row);
  expect(await ratchet('schedules', 'pause', id)).toMatchObject({ code: 0, out: `${id} is paused.\n` });
  expect((await ratchet('schedules')).out).toMatch(new RegExp(`^${id} .* paused +\\$`, 'm'));

  const ran = await ratchet('schedules', 'run', id);
  const job = idIn(ran.out);
  expect(ran).toMatchObject({ code: 0, out: `Next: ratchet watch ${job}\n` });
  expect(await checkedUp(on.service, job)).toMatchObject({ status: 'completed', verdict: 'same' });
  expect((await ratchet('schedules', 'list', id)).out).toMatch(new RegExp(` started +${job}$`, 'm'));

  expect(await ratchet('schedules', 'resume', id)).toMatchObject({ code: 0, out: `${id} is resumed.\n` });
  expect(await ratchet('schedules', 'delete', id)).toMatchObject({ code: 0, out: `${id} is deleted.\n` });
  expect(await ratchet('schedules', '--json')).toMatchObject({ code: 0, out: '[]\n' });
}, 120_000);
