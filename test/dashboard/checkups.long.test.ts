import { afterEach, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { browserOfFile } from '../support/browser.js';
import { askedOf, checkedUp, checkUp, readCheckup } from '../support/checkups-over-http.js';
import { built, deploy, saying } from '../support/deployments-over-http.js';
import { readSchedule, schedule } from '../support/schedules-over-http.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { until } from '../support/until.js';
import { agingModels as models, gateRows, proposer, startAgingWorld } from '../support/worlds/aging.js';
import { rowsBaseline } from '../support/worlds/rows.js';

// The page of a checkup, and the schedules on the page of a name.

const on = serviceOfFile(startAgingWorld);
const { test, open } = browserOfFile();
afterEach(() => on.world.reset());

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const panel = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

async function live(name: string): Promise<void> {
  const gate = { ...gateRows(on.world, 40), min_reward: 0.5, seeds: '0-19', preflight: false };
  const id = await deploy(on.service, { name, source: saying(rowsBaseline, models.live), log: {}, gate });
  await built(on.service, id);
}

test('a checkup shows what got worse and the better prompt, which a person approves', async () => {
  await live('support');
  await askedOf(on.service, 'support', 40);
  on.world.age();
  const { job_id: id } = await checkUp(on.service, 'support', {
    traffic: { limit: 40, expected: 'corrected_or_answer' },
    improve: { proposer, deploy: { require_approval: true } },
  });
  const page = await open(on.service, `#/checkups/${id}`);
  await checkedUp(on.service, id, 120);
  await page.getByRole('heading', { level: 1 }).getByText('worse', { exact: true }).waitFor();
  await panel(page, 'Rows').getByRole('img', { name: 'Now minus then: −1.000' }).waitFor();
  await panel(page, 'Recent requests').getByText('There was nothing to compare with').waitFor();
  await panel(page, 'New prompt').getByText('better', { exact: true }).waitFor();
  const worse = page.getByRole('region', { name: 'Table of rows that got worse' });
  expect(await worse.getByRole('row').count()).toBe(21);
  expect(await worse.getByRole('row').nth(1).getByRole('cell').allTextContents()).toEqual(
    expect.arrayContaining(['1.000', '0.000', 'No rule.']),
  );
  expect(await page.getByRole('list', { name: 'Steps' }).getByRole('link').allTextContents()).toEqual([
    'rows',
    'traffic',
    'session',
    'winner',
    'winner again',
    'traffic again',
  ]);

  await button(page, 'Approve').click();
  await panel(page, 'Approval').getByText('approved', { exact: true }).waitFor();
  const { approval, deployment_id: deployed } = await readCheckup(on.service, id);
  expect(approval).toBe('approved');
  await page.getByRole('link', { name: /^deployment dep_/ }).click();
  await until('the page is that of the deployment', () => Promise.resolve(page.url().endsWith(deployed!)));
}, 180_000);

test('the schedules of a name are run and paused on its page', async () => {
  await live('nightly');
  const checkup = { max_change: 0.3 };
  const { schedule_id: id } = await schedule(on.service, 'nightly', { every: '1d', checkup });
  await schedule(on.service, 'nightly', { cron: '0 3 * * 1', checkup, paused: true });
  const page = await open(on.service, '#/deployments/nightly');
  const mine = panel(page, 'Schedule Every 1d');
  await mine.getByText(/next run 20\d\d-/).waitFor();
  await panel(page, 'Schedule 0 3 * * 1 UTC').getByText('paused').waitFor();

  await mine.getByRole('button', { name: 'Run now' }).click();
  const run = mine.getByRole('list', { name: 'Latest runs' }).getByRole('listitem');
  await run.getByText('started').waitFor();
  const { last_runs: runs } = await readSchedule(on.service, id);
  const job = runs[0]!.job_id!;
  await checkedUp(on.service, job);
  const latest = panel(page, 'Checkups').getByRole('list', { name: 'Checkups' }).getByRole('listitem');
  await latest.getByText('same', { exact: true }).waitFor();

  await mine.getByRole('button', { name: 'Pause' }).click();
  await mine.getByRole('button', { name: 'Resume' }).waitFor();
  expect(await readSchedule(on.service, id)).toMatchObject({ paused: true, next_run_at: null });
  await run.getByRole('link').click();
  await page.getByRole('heading', { level: 1 }).getByText('same', { exact: true }).waitFor();
  expect(page.url()).toMatch(new RegExp(`#/checkups/${job}$`));
}, 120_000);
