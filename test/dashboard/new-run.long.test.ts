import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { browserOfFile } from '../support/browser.js';
import { answers } from '../support/fakes/container-answers.js';
import { startFakeContainer } from '../support/fakes/container.js';
import { command, ended, readJob, type Evaluation, type GraphJob, type Session } from '../support/jobs-over-http.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { until } from '../support/until.js';
import { startRowsWorld } from '../support/worlds/rows.js';

// The form of a new run with rows of the user's own.

const on = serviceOfFile(() => startRowsWorld());
const { test, open } = browserOfFile();

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

async function fillModels(page: Page): Promise<void> {
  await page.getByLabel(/^Provider(?! of)/).selectOption('fake');
  await page.getByLabel('Model that answers').fill('policy');
  await page.getByLabel('Text of message 1').fill('Answer well.');
}

/** Starts the run and returns its id. */
async function started(page: Page): Promise<string> {
  await until('the estimate is there', () => button(page, 'Start').isEnabled());
  await button(page, 'Start').click();
  return until('the page is that of the run', () => Promise.resolve(/(?:evl|ses)_\w+/.exec(page.url())?.[0]));
}

test('pasted CSV is evaluated, with an estimate first', async () => {
  const page = await open(on.service, '#/new');
  await page.getByText('Evaluate', { exact: true }).click();
  await page.getByText('Paste rows').click();
  const csv = ['question,answer,id', ...on.world.rows(6).map((row, n) => `${row.question},${row.answer},${n}`)];
  await page.getByLabel('Rows', { exact: true }).fill(csv.join('\n'));
  await button(page, 'Use these rows').click();
  await page.getByText('6 rows', { exact: true }).click();
  await page.getByRole('region', { name: 'First rows' }).getByText('Row 4: rule 0').waitFor();
  // Neither the first nor the last column.
  expect(await page.getByLabel('Input column').inputValue()).toBe('question');
  expect(await page.getByLabel('Expected column').inputValue()).toBe('answer');
  await fillModels(page);
  await page.getByText('Answers, at most').locator('..').getByText('6', { exact: true }).waitFor();
  const job = await ended<Evaluation>(on.service, await started(page));
  expect(job).toMatchObject({ status: 'completed', progress: { total: 6 }, summary: { mean_reward: 0 } });
});

test('an uploaded file is optimized on; a reload keeps the form', async () => {
  const page = await open(on.service, '#/new');
  const jsonl = on.world.rows(12).map((row) => JSON.stringify(row));
  const file = { name: 'rows.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from(jsonl.join('\n')) };
  await page.getByLabel('Drop or choose a file').setInputFiles(file);
  await page.getByText('12 rows', { exact: true }).waitFor();
  await fillModels(page);
  await page.getByLabel('Provider of the model that writes prompts').selectOption('fake');
  await page.getByLabel('Model that writes prompts', { exact: true }).fill('proposer');
  await page.getByText('More', { exact: true }).click();
  await page.getByLabel('Answers, at most').fill('120');
  await page.getByLabel('Type of scorer').selectOption('Contains');
  await page.getByLabel('Name (optional)').fill('uploaded');
  await page.reload();
  await page.getByText('12 rows', { exact: true }).waitFor();
  const id = await started(page);
  const session = await ended<Session>(on.service, id);
  expect(session).toMatchObject({
    status: 'completed',
    name: 'uploaded',
    dataset: { num_rows: 12, scorer: 'contains' },
    budget: { max_rollouts: 120 },
  });
  expect(session.policy).toMatchObject({ provider: 'fake', model: 'policy' });
}, 60_000);

test('an empty form says what to choose, and a decimal comma is said at its field', async () => {
  const page = await open(on.service, '#/new');
  const choice = page.getByLabel('Data set');
  await until('the data sets are there', async () => (await choice.locator('option').count()) > 1);
  expect(await choice.locator('option:checked').textContent()).toBe('Choose …');
  await page.getByText('More', { exact: true }).click();
  const dollars = page.getByLabel('Dollars, at most');
  await dollars.fill('1,50');
  await until('the field is marked', async () => (await dollars.getAttribute('aria-invalid')) === 'true');
  await dollars.fill('1.50');
  await until('the field is right', async () => (await dollars.getAttribute('aria-invalid')) === null);
});

test('each fault is said at its field, and Start waits for its end', async () => {
  const page = await open(on.service, '#/new');
  await page.getByText('Evaluate', { exact: true }).click();
  await page.getByText('Paste rows').click();
  const rows = page.getByLabel('Rows', { exact: true });
  await rows.fill('{"question": "a"');
  await button(page, 'Use these rows').click();
  await page.getByRole('alert').getByText('line 1').waitFor();
  await rows.fill('{"question": "a", "answer": "b"}');
  await button(page, 'Use these rows').click();
  await page.getByText('1 rows', { exact: true }).waitFor();
  await fillModels(page);
  await page.getByLabel('Text of message 1').fill('Answer {{question}} in {{tongue}}.');
  await page.getByText('{{tongue}} is no column of the data').waitFor();
  await page.getByLabel('Text of message 1').fill('Answer {{questoin}} and {{question}}.');
  await page.getByText('the fields say why').waitFor();
  expect(await button(page, 'Start').isEnabled()).toBe(false);
  await page.getByLabel('Text of message 1').fill('Answer {{question}}.');
  await page.getByLabel('Type of scorer').selectOption('Number');
  const expected = page.getByLabel('Expected column');
  await until('the column is refused', async () => (await expected.getAttribute('aria-invalid')) === 'true');
  await page.getByLabel('Type of scorer').selectOption('Exact');
  await until('the run can start', () => button(page, 'Start').isEnabled());
  expect((await readJob<Evaluation>(on.service, await started(page))).status).not.toBe('failed');
});

test('a provider says what it lacks, and a try that nothing answers says the cause once', async () => {
  const page = await open(on.service, '#/new');
  await page.getByText('Evaluate', { exact: true }).click();
  await page.getByText('Paste rows').click();
  await page.getByLabel('Rows', { exact: true }).fill('question,answer\na,b\nc,d');
  await button(page, 'Use these rows').click();
  await page.getByText('2 rows', { exact: true }).waitFor();
  await fillModels(page);
  await page.getByLabel(/^Provider(?! of)/).selectOption('anthropic');
  await page.getByRole('alert').getByText('ANTHROPIC_API_KEY').waitFor();
  await page.getByLabel(/^Provider(?! of)/).selectOption('ollama');
  await button(page, 'Try 5 rows').click();
  await page.getByText('None of 2 rows was answered').waitFor();
  expect(await page.getByText(/ECONNREFUSED/).count()).toBe(1);
  expect(await page.getByText(/right, mean score/).count()).toBe(0);
});

test('the same form tries and starts a graph on all rows of a data set, and an evaluation of a container', async () => {
  const container = await startFakeContainer({ behave: () => answers.reward(1) });
  const page = await open(on.service, '#/new');
  const jsonl = on.world.rows(1_001).map((row) => JSON.stringify(row));
  const file = { name: 'graph.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from(jsonl.join('\n')) };
  await page.getByText('Optimize steps').click();
  await page.getByLabel('Drop or choose a file').setInputFiles(file);
  await page.getByText('1,001 rows', { exact: true }).waitFor();
  await fillModels(page);
  const calls = on.world.policyCalls().length;
  await button(page, 'Try 5 rows').click();
  await page.getByText(/^\d of 5 right/).waitFor();
  expect(on.world.policyCalls()).toHaveLength(calls + 5);
  await until('the estimate is there', () => button(page, 'Start').isEnabled());
  await button(page, 'Start').click();
  const id = await until('the page is that of the graph job', () => Promise.resolve(/grf_\w+/.exec(page.url())?.[0]));
  expect(await readJob<GraphJob>(on.service, id)).toMatchObject({
    num_tasks: 1_001,
    dataset: { num_rows: 1_001, scorer: 'exact' },
    policy: { provider: 'fake' },
  });
  await command(on.service, id, 'cancel');

  await page.goto(`${on.service.url}/#/new`);
  await page.getByText('Evaluate', { exact: true }).click();
  await button(page, 'A container of mine').click();
  await page.getByLabel('Address of the container').fill(container.url);
  await page.getByLabel('Environment').fill('test');
  await page.getByLabel('Instances').fill('0-3');
  await button(page, 'Try 5 rows').click();
  await page.getByText('4 of 4 right').waitFor();
  const job = await ended<Evaluation>(on.service, await started(page));
  expect(job).toMatchObject({ status: 'completed', container_url: container.url, summary: { mean_reward: 1 } });
  await container.close();
}, 60_000);
