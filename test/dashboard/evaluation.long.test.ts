import { beforeAll, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { browserOfFile, violations } from '../support/browser.js';
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
  const trace = page.getByRole('dialog', { name: 'Trace of seed 1' });
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

type Box = Record<'left' | 'right' | 'top' | 'bottom', number>;

test('the bounds of an interval stand apart from its zero on a phone', async () => {
  const page = await open(on.service, `#/compare?a=${jobs.before}&b=${jobs.after}`, {
    viewport: { width: 390, height: 800 },
  });
  await page.getByRole('region', { name: 'Prompt of A' }).waitFor();
  const boxes = await page.evaluate<Box[]>(
    "[...document.querySelectorAll('.interval text')].map((text) => text.getBoundingClientRect().toJSON())",
  );
  expect(boxes).toHaveLength(3);
  const meet = (a: Box, b: Box) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const overlaps = boxes.flatMap((one, n) => boxes.slice(n + 1).filter((other) => meet(one, other)));
  expect(overlaps).toEqual([]);
  expect(await violations(page)).toEqual([]);
});

test('the comparison counts rows won and lost, and says who is better', async () => {
  const page = await open(on.service, `#/evaluations/${jobs.before}?tab=beside&with=${jobs.after}`);
  await page.getByRole('link', { name: 'compare' }).click();
  await page.getByRole('button', { name: 'B won 10' }).waitFor();
  await page.getByRole('button', { name: 'B lost 0' }).waitFor();
  await page
    .getByRole('region', { name: 'Verdict' })
    .getByText('B is better than A by 0.250 on 40 common rows.')
    .waitFor();
  await page.getByRole('button', { name: 'B won 10' }).click();
  const rows = page.getByRole('table', { name: 'Rows with both rewards' }).getByRole('rowheader');
  await until(
    'the won rows are left',
    async () => (await rows.count()) > 0 && (await rows.first().textContent())!.includes('won'),
  );
  await page.getByRole('button', { name: 'Swap' }).click();
  await page.getByRole('button', { name: 'B lost 10' }).waitFor();
});
