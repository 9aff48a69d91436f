import { beforeAll, expect } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { browserOfFile, isTooWide, violations } from '../support/browser.js';
import { createSession, ended, evaluations, readJob, type Session } from '../support/jobs-over-http.js';
import { range } from '../support/range.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { startRowsWorld } from '../support/worlds/rows.js';

// Runs whose rows overlap in part or not at all, a search without held-out rows, and other scorers.

const on = serviceOfFile(() => startRowsWorld());
const { test, open } = browserOfFile();
const shoot = process.env['SHOTS'];
const rows = 40;
/** Evaluations by their rows. */
const of: Record<'first' | 'half' | 'quarter' | 'apart' | 'otherScorer', string> = {} as never;
let unheld: string;

const evaluate = async (seeds: number[], rule: string, more: object = {}): Promise<string> => {
  const { dataset, scorer, policy } = on.world.job(rows) as Record<string, object>;
  const candidate = { messages: [{ role: 'system', content: `Answer. ${rule}` }] };
  const body = { dataset, scorer, policy, candidate, seeds, preflight: false, ...more };
  return (await on.service.api.call<{ job_id: string }>('POST', evaluations, body)).job_id;
};

beforeAll(async () => {
  of.first = await evaluate(range(0, 20), 'Know rule-1.');
  of.half = await evaluate(range(10, 20), 'Know rule-1. Know rule-2. Know rule-3.');
  of.quarter = await evaluate(range(15, 10), 'Know rule-1.');
  of.apart = await evaluate(range(20, 10), 'Know rule-2.');
  of.otherScorer = await evaluate(range(0, 20), 'Know rule-1.', { scorer: 'contains' });
  const gepa = { population_size: 2, generations: 3, train_seeds: range(20, 20), evaluation: { seeds: range(0, 10) } };
  unheld = await createSession(on.service, { ...on.world.job(rows), gepa, budget: { max_rollouts: 60 } });
  for (const id of [...Object.values(of), unheld]) await ended(on.service, id, 120);
}, 240_000);

async function compare(ids: string[], query = '', width = 1440): Promise<Page> {
  return open(on.service, `#/compare?ids=${ids.join()}${query}`, { viewport: { width, height: 900 } });
}
const picture = async (page: Page, name: string) => {
  if (shoot) writeFileSync(`${shoot}/${name}.png`, await page.screenshot({ fullPage: true }));
};
const verdict = (page: Page) => page.getByRole('region', { name: 'Verdict', exact: true });
const settings = (page: Page) => page.getByRole('region', { name: 'Configuration', exact: true });

test('columns on other rows say how many they share with the baseline, and which shares none', async () => {
  const page = await compare([of.first, of.half, of.quarter, of.apart]);
  await verdict(page).getByText('D has no row in common with A').waitFor();
  await verdict(page).getByText('B on 10, C on 5').waitFor();
  expect(await verdict(page).getByRole('row', { name: /^D / }).textContent()).toContain('no row in common');
  await settings(page)
    .getByRole('row', { name: /^Rows 0, 1, 2/ })
    .waitFor();
  await picture(page, 'apart-1440');
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Compare with B' }).click();
  await verdict(page).getByText('D has no row in common').waitFor({ state: 'detached' });
  await verdict(page).getByText('A on 10, C on 10, D on 10').waitFor({ state: 'detached' });
  const narrow = await compare([of.first, of.half, of.quarter, of.apart], '', 390);
  await narrow.getByRole('table', { name: 'Rows with all answers' }).waitFor();
  expect(await isTooWide(narrow)).toBe(false);
  await picture(narrow, 'apart-390');
});

test('a search without held-out rows is said to have selected on the compared ones', async () => {
  const { split } = await readJob<Session>(on.service, unheld);
  expect(split?.heldout).toEqual([]);
  const page = await compare([of.first, unheld]);
  await verdict(page)
    .getByText('B: its own search selected on the compared rows, which favors its candidate.')
    .waitFor();
  expect(
    await settings(page)
      .getByRole('row', { name: /^Split/ })
      .textContent(),
  ).toContain('0 held-out');
  await picture(page, 'unheld-1440');
});

test('runs with other scorers are not compared, and their configurations are', async () => {
  const page = await compare([of.first, of.half, of.otherScorer]);
  await page
    .getByRole('alert')
    .getByText(/C( \(".+"\))? is scored differently from A/)
    .waitFor();
  const row = settings(page).getByRole('row', { name: /^Scorer \w+/ });
  await row.waitFor();
  expect(await row.getByRole('cell').allTextContents()).toEqual(['exact', 'exact', 'contains']);
  await picture(page, 'scorers-1440');
  await page.getByRole('button', { name: 'Remove C' }).click();
  await verdict(page).waitFor();
});
