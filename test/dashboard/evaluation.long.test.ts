import { beforeAll, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { browserOfFile } from '../support/browser.js';
import { ended } from '../support/jobs-over-http.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { until } from '../support/until.js';
import { startRowsWorld } from '../support/worlds/rows.js';

// An evaluation beside another one: its matrix, the traces behind it, and the comparison of both.

const on = serviceOfFile(() => startRowsWorld());
const { test, open } = browserOfFile();

const count = 40;
/** Solves no row; then one row in four. */
const texts = { before: 'Answer.', after: 'Answer. Know rule-1.' };
const jobs = {} as Record<keyof typeof texts, string>;

beforeAll(async () => {
  const { dataset, scorer, policy } = on.world.job(count) as Record<string, object>;
  for (const [name, content] of Object.entries(texts)) {
    const body = { dataset, scorer, policy, name, candidate: { messages: [{ role: 'system', content }] } };
    const { job_id } = await on.service.api.call<{ job_id: string }>('POST', '/api/v1/offline/jobs', body);
    jobs[name as keyof typeof texts] = job_id;
    await ended(on.service, job_id);
  }
}, 60_000);

const cell = (page: Page, row: number) => page.getByRole('button', { name: `Trace of row ${row} in`, exact: false });
const shown = (page: Page) => page.getByRole('status').getByText(/^\d+ of \d+ rows$/);

test('shows each row with its answer, beside another evaluation, filtered and sorted', async () => {
  const page = await open(on.service, `#/evaluations/${jobs.before}?tab=beside`);
  await shown(page).getByText('40 of 40 rows').waitFor();
  await cell(page, 0).getByText('No rule.').waitFor();
  await page.getByText('needs rule-1.').first().waitFor();
  await page.getByLabel('Add an evaluation beside this one').selectOption(jobs.after);
  await page.getByRole('rowheader').filter({ hasText: 'Row 1: rule 1' }).waitFor();
  await until('both columns are there', async () => (await cell(page, 1).count()) === 2);
  await cell(page, 1).nth(1).getByText('needs rule-1.').waitFor();
  expect(page.url()).toContain(`with=${jobs.after}`);

  await page.getByRole('combobox', { name: 'Rows' }).selectOption('Different rewards');
  await shown(page).getByText('10 of 40 rows').waitFor();
  await page.getByRole('combobox', { name: 'Rows' }).selectOption('All rows');
  await page.getByLabel('Order').selectOption('Largest difference first');
  await until(
    'the rows that differ come first',
    async () => (await page.getByRole('rowheader').first().locator('strong').textContent()) === '1',
  );
});

test('a cell opens its trace, with the call and its messages, and the way back by keyboard', async () => {
  const page = await open(on.service, `#/evaluations/${jobs.after}?tab=beside`);
  await cell(page, 1).focus();
  await page.keyboard.press('Enter');
  const trace = page.getByRole('dialog', { name: 'Trace of row 1' });
  await trace.getByRole('list', { name: 'Messages' }).getByText(texts.after).waitFor();
  await trace.getByText('Row 1: rule 1').waitFor();
  const answer = trace.locator('.turn-answer');
  await answer.getByText('needs rule-1.').waitFor();
  // Green says that something is right.
  const [shownOn, green] = await page.evaluate<string[]>(`(() => {
    const answer = document.querySelector('.turn-answer');
    const shownOn = getComputedStyle(answer).backgroundColor;
    answer.style.backgroundColor = 'var(--accent-soft)';
    return [shownOn, getComputedStyle(answer).backgroundColor];
  })()`);
  expect(shownOn).not.toBe(green);
  expect(await trace.getByRole('region', { name: 'Model calls' }).getByText('HTTP 200').count()).toBe(1);
  await page.keyboard.press('Escape');
  await trace.waitFor({ state: 'detached' });
  expect(await cell(page, 1).evaluate((button) => button.matches(':focus'))).toBe(true);
});

test('the comparison counts rows won and lost, and says who is better', async () => {
  const page = await open(on.service, `#/evaluations/${jobs.before}?tab=beside&with=${jobs.after}`);
  await page.getByRole('link', { name: 'compare' }).click();
  const panel = page.getByRole('region', { name: 'Rows', exact: true });
  await panel.getByRole('button', { name: 'Lost 0' }).waitFor();
  await page
    .getByRole('region', { name: 'Verdict', exact: true })
    .getByText(/^B is better than A \(\+0\.250, .*, 40 rows\)\.$/)
    .waitFor();
  await panel.getByRole('button', { name: 'Won 10' }).click();
  const rows = page.getByRole('table', { name: 'Rows with all answers' }).getByRole('rowheader');
  await until('the won rows are left', async () => (await rows.count()) === 10);
  await page.getByRole('button', { name: 'Compare with B' }).click();
  await panel.getByRole('button', { name: 'Lost 10' }).waitFor();
});
