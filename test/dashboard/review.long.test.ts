import { beforeAll, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { browserOfFile, isTooWide, violations } from '../support/browser.js';
import { ask, built, deploy, saying } from '../support/deployments-over-http.js';
import { createSession, ended } from '../support/jobs-over-http.js';
import { range } from '../support/range.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { until } from '../support/until.js';
import { startMeteredWorld } from '../support/worlds/metered.js';

// A person reads the failing rows of a session one by one, says what is right, by keys alone, and
// makes the corrected data set.

const on = serviceOfFile(() => startMeteredWorld());
const { test, open } = browserOfFile();

let id: string;
beforeAll(async () => {
  on.world.allow(Infinity);
  // Two generations learn two of the four rules.
  const gepa = { population_size: 1, generations: 2 };
  id = await createSession(on.service, { ...on.world.job(40), gepa, budget: { max_rollouts: 200 } });
  await ended(on.service, id);
}, 90_000);

interface Review {
  row: number;
  verdict: string | null;
  note: string | null;
  corrected: string | null;
}
const api = <T>(path: string) => on.service.api.call<T>('GET', path);
const saved = async () => {
  const { data } = await api<{ data: Review[] }>(`/api/v1/reviews?job_id=${id}&limit=100`);
  return data.map(({ row, verdict, note, corrected }) => ({ row, verdict, note, corrected })).reverse();
};
const panel = (page: Page, row: number) =>
  page.getByRole('complementary', { name: `Review of Row ${row}`, exact: true });

/** The id of the data set that the page says to be made. */
async function datasetMade(page: Page, words: string): Promise<string> {
  const status = page.getByRole('status').filter({ hasText: words }).filter({ hasText: 'Data set' });
  const link = await status.getByRole('link').first().getAttribute('href');
  return link!.split('/').at(-1)!;
}

test('reviews rows by keyboard, and makes a data set with the corrections', async () => {
  const page = await open(on.service, `#/sessions/${id}?tab=rows&group=failing`, {
    viewport: { width: 1440, height: 900 },
  });
  const { data: rows } = await api<{ data: { row: number; expected: string }[] }>(
    `/api/v1/online/sessions/${id}/rows?group=failing`,
  );
  const numbers = rows.map(({ row }) => row);
  expect(numbers.length).toBeGreaterThan(5);
  const [first, second, third, fourth, fifth] = numbers as [number, number, number, number, number];
  const start = page.getByRole('button', { name: 'Review these' });
  await start.waitFor();
  await start.focus();
  await page.keyboard.press('Enter');
  await panel(page, first).waitFor();
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  await press('w', 'j', 'b', 'c');
  await page.getByRole('textbox', { name: 'Corrected answer' }).waitFor();
  await page.keyboard.type('jury');
  await press('Enter', 'j', 'n');
  await page.getByRole('textbox', { name: 'Note' }).waitFor();
  await page.keyboard.type('wrong rule');
  await press('Enter', 'w', 'ArrowDown', 'b', 'j', 'r', 'k', 'w', 'u');
  const all = [
    { row: first, verdict: 'wrong', note: null, corrected: null },
    { row: second, verdict: 'bad_expected', note: null, corrected: 'jury' },
    { row: third, verdict: 'wrong', note: 'wrong rule', corrected: null },
    { row: fourth, verdict: 'bad_expected', note: null, corrected: null },
    { row: fifth, verdict: 'right', note: null, corrected: null },
  ];
  await until('all is saved', async () => JSON.stringify(await saved()) === JSON.stringify(all));
  await panel(page, fourth).getByText(`5 of ${numbers.length} reviewed`).waitFor();
  expect(await panel(page, fourth).getByRole('button', { name: 'Bad expected value', pressed: true }).count()).toBe(1);
  expect(await violations(page)).toEqual([]);
  await press('?');
  await page.getByText('The expected value is wrong').waitFor();

  await page.reload();
  await panel(page, fourth).waitFor();
  expect(new URL(page.url()).hash).toContain(`row=${fourth}`);
  await press('Escape');
  await panel(page, fourth).waitFor({ state: 'detached' });
  await until('the row has the focus', () => page.evaluate(`document.activeElement?.dataset?.row === '${fourth}'`));

  await page.getByRole('button', { name: 'Make a corrected data set' }).click();
  const made = await datasetMade(page, `${numbers.length - 1} rows, 1 corrected, 1 left out`);
  const { data } = await api<{ data: { data: { answer: string } }[] }>(`/api/v1/datasets/${made}/rows`);
  const expected = rows.filter(({ row }) => row !== fourth).map((row) => (row.row === second ? 'jury' : row.expected));
  expect(data.map((row) => row.data.answer)).toEqual(expected);

  await page.getByRole('button', { name: /^Reviewed as wrong/ }).click();
  await page.getByRole('status').getByText('2 rows', { exact: true }).waitFor();
});

test('what the service refuses is shown at the row, and undone', async () => {
  const page = await open(on.service, `#/sessions/${id}?tab=rows&group=fixed`);
  await page.getByRole('button', { name: 'Review these' }).click();
  const aside = page.getByRole('complementary');
  await aside.waitFor();
  const before = (await saved()).length;
  await page.route('**/api/v1/reviews/**', (route) =>
    route.fulfill({
      status: 403,
      json: { code: 'missing_scope', title: 'Forbidden', detail: 'The key may only read.' },
    }),
  );
  await page.keyboard.press('r');
  await aside.getByRole('alert').getByText('The key may only read.').waitFor();
  expect(await aside.getByRole('button', { name: 'Right', exact: true, pressed: true }).count()).toBe(0);
  await page.getByText('not saved').waitFor();
  expect(await saved()).toHaveLength(before);
});

test('covers a phone, where buttons stand for keys', async () => {
  const page = await open(on.service, `#/sessions/${id}?tab=rows&group=fixed`, {
    viewport: { width: 390, height: 800 },
  });
  await page.getByRole('table', { name: 'Rows', exact: true }).getByRole('button').first().click();
  const aside = page.getByRole('complementary');
  await aside.waitFor();
  expect(await aside.boundingBox()).toMatchObject({ x: 0, y: 0, width: 390 });
  await aside.getByRole('button', { name: 'Right', exact: true }).click();
  await aside.getByRole('button', { name: 'Right', exact: true, pressed: true }).waitFor();
  expect([await isTooWide(page), await violations(page)]).toEqual([false, []]);
  await aside.getByRole('button', { name: 'Close' }).click();
  await aside.waitFor({ state: 'detached' });
});

test('kept answers of a deployment are reviewed beside their list, and count as feedback', async () => {
  const deployment = await deploy(on.service, { name: 'router', source: saying('Answer well.'), log: {} });
  await built(on.service, deployment);
  for (const text of ['Row 1: rule 1', 'Row 2: rule 2', 'Row 3: rule 3'])
    await (await ask(on.service, 'router', { messages: [{ role: 'user', content: text }] })).text();
  await until('all are kept', async () => {
    const { left } = await api<{ left: number }>(`/api/v1/reviews/queue?job_id=${deployment}`);
    return left === 3;
  });
  const page = await open(on.service, `#/deployments/${deployment}`);
  await page.getByRole('button', { name: 'Review these' }).click();
  const aside = page.getByRole('complementary');
  await aside.getByText('1 of 3, 0 of 3 reviewed').waitFor();
  await aside
    .getByRole('list', { name: 'Messages' })
    .getByText('Answer well.')
    .or(aside.getByText('Row 3: rule 3'))
    .first()
    .waitFor();
  for (const key of ['r', 'j', 'b', 'w', 'c']) await page.keyboard.press(key);
  await page.keyboard.type('needs rule-2.');
  await page.keyboard.press('Enter');
  await aside.getByText('2 of 3, 2 of 3 reviewed, wrong').waitFor();
  expect(await violations(page)).toEqual([]);
  const { data: queue } = await api<{ data: { subject_id: string }[] }>(`/api/v1/reviews/queue?job_id=${deployment}`);
  await on.service.api.client.reviews.put(deployment, queue[0]!.subject_id, {
    verdict: 'wrong',
    note: 'Too short.',
    by: 'ann',
  });
  await page.reload();
  // The list shows the verdicts of all reviewers; answers without one of this reviewer come first.
  const list = page.getByRole('table', { name: 'Answers to review' });
  await list.getByRole('row', { name: /^wrong Row 1/ }).waitFor();
  expect(await list.getByRole('row', { name: /^(right|wrong) Row \d/ }).allTextContents()).toEqual([
    expect.stringMatching(/^wrongRow 1/),
    expect.stringMatching(/^rightRow 3/),
    expect.stringMatching(/^wrongRow 2/),
  ]);
  await list.getByRole('button', { name: /Row 1/ }).click();
  await aside.getByRole('list', { name: 'What people say' }).getByText('ann: wrong Too short.').waitFor();
  await list.getByRole('button', { name: /Row 2/ }).click();
  await aside.getByRole('list', { name: 'What people say' }).getByText('needs rule-2.').waitFor();
  const { metrics } = await api<{ metrics: object }>(`/api/harbor/deployments/${deployment}/stats`);
  expect(metrics).toMatchObject({ reward: { count: 3, mean: expect.closeTo(1 / 3, 9) } });
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Make a data set of the reviewed' }).click();
  const made = await datasetMade(page, '2 rows');
  const { data } = await api<{ data: { data: { expected: string } }[] }>(`/api/v1/datasets/${made}/rows`);
  expect(data.map((row) => row.data.expected)).toEqual(['No rule.', 'needs rule-2.']);
});

test('notes on two wrong rows become a hint, which the running search receives', async () => {
  const { service, world } = on;
  world.hold();
  const seeds = { train_seeds: range(10, 20), evaluation: { seeds: range(0, 10), heldout_seeds: range(30, 4) } };
  const gepa = { generations: 6, population_size: 1, ...seeds };
  const running = await createSession(service, { ...world.job(40), gepa, budget: { max_rollouts: 70 } });
  world.allow(10);
  const failing = `/api/v1/online/sessions/${running}/rows?group=failing`;
  const { data: rows } = await until('the baseline has answered', async () => {
    const page = await api<{ data: { row: number }[] }>(failing);
    return page.data.length === 10 && page;
  });
  const page = await open(service, `#/sessions/${running}?tab=rows&group=failing`, {
    viewport: { width: 1440, height: 900 },
  });
  await page.getByRole('button', { name: 'Review these' }).click();
  await panel(page, rows[0]!.row).waitFor();
  const notes = ['Name the rule itself.', 'Never answer that there is none.'];
  for (const note of notes) {
    await page.keyboard.press('w');
    await page.keyboard.press('n');
    await page.getByRole('textbox', { name: 'Note' }).waitFor();
    await page.keyboard.type(note);
    await page.keyboard.press('Enter');
    await page.keyboard.press('j');
  }
  await panel(page, rows[2]!.row).getByText('2 of 10 reviewed').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /^Reviewed as wrong/ }).click();
  await page.getByRole('status').getByText('2 rows', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Give a hint from these' }).click();
  const dialog = page.getByRole('dialog');
  const draft = await dialog.getByLabel('Hint').inputValue();
  expect(draft.split('\n')).toHaveLength(3);
  for (const note of notes) expect(draft).toContain(`Note: ${note}`);
  await dialog.getByRole('button', { name: 'Give the hint' }).click();
  await dialog.waitFor({ state: 'detached' });
  world.allow(Infinity);
  await ended(service, running);
  const proposals = world.model.requests
    .filter(({ body }) => body.model === 'proposer')
    .map(({ body }) => JSON.stringify(body));
  expect(proposals.some((body) => notes.every((note) => body.includes(note)))).toBe(true);
}, 120_000);
