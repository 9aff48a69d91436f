import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { browserOfFile, isTooWide, violations } from '../support/browser.js';
import type { Item } from '../../src/client/index.js';
import { ended, type Session } from '../support/jobs-over-http.js';
import { newcomerRows, newcomerTeams } from '../support/newcomer.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { until } from '../support/until.js';

// A newcomer's file, from the drop to a served prompt, with the built-in model.

const on = serviceOfFile();
const { test, open } = browserOfFile();

type Run = Item<'listRuns'>;

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
const csvOf = (rows: { message: string; team: string }[]) =>
  ['message;team', ...rows.map(({ message, team }) => `${quoted(message)};${team}`)].join('\r\n');

/** Drops a file on the form, as a person does. */
async function drop(page: Page, name: string, bytes: Buffer): Promise<void> {
  const file = `new File([Uint8Array.from(atob('${bytes.toString('base64')}'), (char) => char.charCodeAt(0))], '${name}')`;
  const transfer = await page.evaluateHandle(
    `(() => { const data = new DataTransfer(); data.items.add(${file}); return data; })()`,
  );
  await page.locator('.drop').dispatchEvent('drop', { dataTransfer: transfer });
}

async function bottomOf(part: Locator): Promise<number> {
  const { y, height } = (await part.boundingBox())!;
  return y + height;
}

async function expectUsable(page: Page): Promise<void> {
  expect(await violations(page)).toEqual([]);
  expect(await isTooWide(page)).toBe(false);
}

test('a file with semicolons becomes a served prompt: draft, try, budget, deployment, call', async () => {
  const page = await open(on.service, '#/new', { viewport: { width: 1440, height: 900 } });
  const name = `support-${Date.now()}.csv`;
  await drop(page, name, Buffer.from(csvOf(newcomerRows())));
  await page.getByText('60 rows', { exact: true }).waitFor();
  const { data: stored } = await on.service.api.call<{ data: { name: string }[] }>('GET', '/api/v1/datasets');
  expect(stored[0]!.name).toBe(name);
  await until('the rows are known', async () => (await page.getByText(', 4 labels').count()) === 1);

  const prompt = page.getByLabel('Text of message 1');
  await until('a prompt is drafted', async () => (await prompt.inputValue()).includes('Labels: '));
  for (const team of newcomerTeams) expect(await prompt.inputValue()).toContain(team);
  expect(await page.getByLabel('Text of message 2').inputValue()).toBe('{{message}}');
  await page.getByText('time unknown').first().waitFor();
  // Data, prompt, model and the first action fit the first screen.
  for (const part of [
    page.getByLabel('Expected column'),
    prompt,
    page.getByLabel('Model that answers'),
    button(page, 'Start'),
  ])
    expect(await bottomOf(part)).toBeLessThanOrEqual(900);
  await page.getByText('60 rows', { exact: true }).click();
  expect(await page.getByRole('list', { name: 'Rows of each label' }).getByRole('listitem').count()).toBe(4);
  await page.getByText('60 rows', { exact: true }).first().click();

  await button(page, 'Try 5 rows').click();
  const answers = page.getByRole('region', { name: 'Answers of the try' }).locator('tbody tr');
  await until('five rows are answered', async () => (await answers.count()) === 5);
  for (const row of await answers.all()) {
    expect(newcomerTeams).toContain(await row.locator('td').nth(4).innerText());
  }
  expect(await answers.filter({ hasText: '1.000' }).count()).toBeGreaterThan(0);
  await page.getByText('less than a minute, no cost').first().waitFor();
  for (const width of [390, 2560, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await expectUsable(page);
  }

  await page.getByText('Quick', { exact: true }).click();
  const start = button(page, 'Start');
  await until('the estimate is there', () => start.isEnabled());
  await start.click();
  const id = await until('the page is that of the run', () => Promise.resolve(/ses_\w+/.exec(page.url())?.[0]));
  await ended<Session>(on.service, id, 200);
  // The try is no run.
  const { data: runs } = await on.service.api.call<{ data: Run[] }>('GET', '/api/v1/runs');
  expect(runs.map((run) => run.job_id)).toEqual([id]);
  expect(runs[0]!.best_reward).toBeGreaterThan(runs[0]!.baseline_reward!);

  await page.getByRole('group', { name: 'Actions' }).getByRole('link', { name: 'Deploy the winner' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('support');
  await button(page, 'Deploy').click();
  await page.getByRole('dialog').getByText('ready', { exact: true }).waitFor({ timeout: 60_000 });
  const { id: version } = await on.service.api.call<{ id: string }>('GET', '/api/harbor/deployments/support');
  await page.goto(`${on.service.url}/#/deployments/${version}`);
  const call = await page.getByRole('region', { name: 'Call it' }).locator('pre').innerText();
  const { stdout } = await promisify(execFile)(
    'bash',
    ['-c', call.replace('…', 'My card was declined at the cash machine')],
    { env: { ...process.env, RATCHET_API_KEY: on.service.apiKey } },
  );
  const { choices } = JSON.parse(stdout) as { choices: { message: { content: string } }[] };
  expect(newcomerTeams).toContain(choices[0]!.message.content);
}, 400_000);

test('numbers behind a mark choose their scorer; Clear takes the answers with the rows', async () => {
  const page = await open(on.service, '#/new', { viewport: { width: 1440, height: 900 } });
  const rows = Array.from({ length: 12 }, (_, n) => {
    return { question: `${n} ducks lay 2 eggs each. How many?`, answer: `${n} * 2 = ${2 * n}\n#### ${2 * n}` };
  });
  await drop(page, 'math.jsonl', Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n')));
  await page.getByText('12 rows', { exact: true }).waitFor();
  const scorer = page.getByLabel('Type of scorer');
  await until('the scorer is chosen', async () => (await scorer.inputValue()) === 'numeric');
  await page.getByText('The right answers are numbers').waitFor();
  const prompt = page.getByLabel('Text of message 1');
  await until('the prompt asks for steps', async () => (await prompt.inputValue()).includes('####'));

  await button(page, 'Try 5 rows').click();
  const answers = page.getByRole('region', { name: 'Answers of the try' });
  await answers.waitFor();
  await button(page, 'Clear').click();
  await answers.waitFor({ state: 'detached' });
  expect(await page.getByLabel('Drop or choose a file').inputValue()).toBe('');
  expect(await scorer.inputValue()).toBe('exact');
  await drop(page, 'support.csv', Buffer.from(csvOf(newcomerRows())));
  await page.getByText('60 rows', { exact: true }).waitFor();
  expect(await answers.count()).toBe(0);
  expect(await scorer.inputValue()).toBe('exact');
  await button(page, 'Undo').click();
  await answers.waitFor();
  // A person's choice stays.
  await scorer.selectOption('contains');
  await page.reload();
  await page.getByText('12 rows', { exact: true }).waitFor();
  expect(await scorer.inputValue()).toBe('contains');
});

test('files of Excel are read, or refused with what to do; Clear can be undone; right answers stay out', async () => {
  const page = await open(on.service, '#/new', { viewport: { width: 390, height: 900 } });
  await drop(page, 'rows.xlsx', Buffer.from('PK'));
  await page.getByRole('alert').getByText('CSV UTF-8').waitFor();

  const rows = newcomerRows().map(({ message, team }, n) => ({ message: `${message} à Zürich ${n % 59}`, team }));
  await drop(page, 'latin.csv', Buffer.from(csvOf(rows), 'latin1'));
  await page.getByText('Windows-1252').waitFor();
  await page.getByText('60 rows', { exact: true }).click();
  await page.getByRole('region', { name: 'First rows' }).getByText('à Zürich').first().waitFor();
  await drop(page, 'utf16.csv', Buffer.from(`\ufeff${csvOf(rows.slice(0, 30)).replaceAll(';', '\t')}`, 'utf16le'));
  await page.getByText('30 rows', { exact: true }).waitFor();

  const prompt = page.getByLabel('Text of message 1');
  expect(await page.getByRole('button', { name: 'Insert {{team}} into message 1' }).count()).toBe(0);
  await prompt.fill('The team is {{team}}.');
  await until('the field is refused', async () => (await prompt.getAttribute('aria-invalid')) === 'true');
  expect(await button(page, 'Try 5 rows').isDisabled()).toBe(true);
  await prompt.fill('Name the team.');
  await button(page, 'Clear').click();
  expect(await prompt.inputValue()).toBe('');
  await button(page, 'Undo').click();
  expect(await prompt.inputValue()).toBe('Name the team.');
  await page.reload();
  await page.getByText('30 rows', { exact: true }).waitFor();
  expect(await prompt.inputValue()).toBe('Name the team.');
  await expectUsable(page);
});
