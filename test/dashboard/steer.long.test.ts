import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { choose } from '../support/actions.js';
import { browserOfFile } from '../support/browser.js';
import { gate } from '../support/gate.js';
import { command, createSession, ended, readJob, type Session } from '../support/jobs-over-http.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { until } from '../support/until.js';
import { rowsBaseline, startRowsWorld, withIdleTurns } from '../support/worlds/rows.js';

// What a user does to a session from its page, by what the service then does.

const on = serviceOfFile(() => startRowsWorld());
const { test, open } = browserOfFile();

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const status = (page: Page, name: string) => page.getByRole('heading', { level: 1 }).getByText(name);
const ids = async () =>
  (await on.service.api.call<{ data: { session_id: string }[] }>('GET', '/api/v1/online/sessions')).data.map(
    ({ session_id: id }) => id,
  );

/** A session whose model does not answer until `answer()`. */
async function heldSession(): Promise<{ id: string; answer: () => void }> {
  const { opened, open: answer } = gate();
  on.world.model.reply(async (request) => {
    await opened;
    return on.world.answer(request);
  });
  const gepa = { generations: 20, population_size: 2 };
  const id = await createSession(on.service, { ...on.world.job(40), gepa, budget: { max_rollouts: 200 } });
  await until('it runs', async () => (await readJob<Session>(on.service, id)).status === 'running');
  return { id, answer };
}

test('a hint reaches the proposer, a prompt becomes the best, and names stay', async () => {
  const { id, answer } = await heldSession();
  const page = await open(on.service, `#/sessions/${id}`);
  await button(page, 'Give a hint').click();
  await page.getByRole('dialog').getByLabel('Hint').fill('Think of the year 1969.');
  await button(page, 'Give the hint').click();
  await button(page, 'Hint').waitFor();

  await choose(page, 'Edit');
  const labels = page.getByRole('dialog');
  await labels.getByLabel('Name').fill('routing of letters');
  await labels.getByLabel('Tags').fill('team-a, nightly');
  await labels.getByLabel('Notes').fill('Only a try.');
  await button(page, 'Save').click();
  await page.getByRole('heading', { level: 1, name: /routing of letters.*team-a.*nightly/ }).waitFor();
  await page.getByText('Only a try.').waitFor();

  answer();
  await button(page, 'Try my prompt').click();
  const text = page.getByRole('dialog').getByLabel('system');
  await until('the baseline is shown', async () => (await text.inputValue()) === rowsBaseline);
  const mine = 'Follow rule-0. rule-1. rule-2. rule-3.';
  await text.fill(mine);
  await button(page, 'Try it').click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await status(page, 'completed').waitFor({ timeout: 30_000 });
  await page.getByRole('tab', { name: 'Prompt' }).click();
  await page.getByRole('region', { name: 'Best prompt' }).getByText(mine).first().waitFor();
  const asked = on.world.model.requests.filter(({ body }) => body.model === 'proposer');
  expect(asked.some(({ body }) => JSON.stringify(body).includes('Think of the year 1969.'))).toBe(true);
}, 60_000);

test('a prompt of your own is evaluated beside the search, in a form that has it', async () => {
  const { id, answer } = await heldSession();
  const page = await open(on.service, `#/sessions/${id}`);
  answer();
  await button(page, 'Try my prompt').click();
  const text = page.getByRole('dialog').getByLabel('system');
  await until('the baseline is shown', async () => (await text.inputValue()) === rowsBaseline);
  await text.fill('Follow rule-0.');
  await button(page, 'Evaluate on …').click();
  await page.waitForURL(new RegExp(`#/new\\?evaluate=${id}`));
  const field = page.getByLabel('Text of message 1');
  await until('the form has the prompt', async () => (await field.inputValue()) === 'Follow rule-0.');
  await until('the estimate is there', () => button(page, 'Start').isEnabled());
  await command(on.service, id, 'cancel');
});

test('a search is cancelled, extended and run again, each after a question', async () => {
  const { id, answer } = await heldSession();
  const page = await open(on.service, `#/sessions/${id}`);
  await choose(page, 'Cancel');
  await button(page, 'Keep it').click();
  expect((await readJob<Session>(on.service, id)).status).toBe('running');
  await choose(page, 'Cancel');
  await button(page, 'Cancel the session').click();
  await status(page, 'cancelled').waitFor();
  answer();

  await button(page, 'Extend').click();
  const rollouts = page.getByRole('dialog').getByLabel('Answers');
  await rollouts.fill('100');
  await button(page, 'Go on').click();
  // The browser refuses less than now.
  expect(await rollouts.evaluate((input) => input.matches(':valid'))).toBe(false);
  await rollouts.fill('300');
  await button(page, 'Go on').click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await status(page, 'completed').waitFor({ timeout: 30_000 });
  expect((await readJob<Session>(on.service, id)).budget.max_rollouts).toBe(300);

  const before = await ids();
  await choose(page, 'Clone');
  const question = page.getByRole('dialog', { name: 'Run this session again?' });
  await button(page, 'Close').click();
  expect(await ids()).toEqual(before);
  await choose(page, 'Clone');
  await question.getByRole('button', { name: 'Clone' }).click();
  await until('the page is that of the clone', () => Promise.resolve(!page.url().includes(id)));
  const clone = /ses_\w+/.exec(page.url())![0];
  expect(before).not.toContain(clone);
  await ended(on.service, clone);
}, 60_000);

test('a running session is archived after a question, and its status still finds it', async () => {
  const { id, answer } = await heldSession();
  const page = await open(on.service, `#/sessions/${id}`);
  const isArchived = async () => (await readJob<Session>(on.service, id)).archived;
  await choose(page, 'Archive');
  await button(page, 'Keep it').click();
  expect(await isArchived()).toBe(false);
  await choose(page, 'Archive');
  await button(page, 'Archive the session').click();
  await until('it is archived', isArchived);
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const link = page.locator(`a[href="#/sessions/${id}"]`);
  await page.goto(`${on.service.url}/#/?status=running`);
  await link.waitFor();
  await command(on.service, id, 'cancel');
  answer();
});

test('a session whose answers are all wrong offers nothing to deploy, and no interval of one point', async () => {
  on.world.model.reply(() => ({ text: 'No rule.' }));
  const gepa = { generations: 1, population_size: 2 };
  const id = await createSession(on.service, { ...on.world.job(20), gepa, budget: { max_rollouts: 60 } });
  await ended(on.service, id);
  const page = await open(on.service, `#/sessions/${id}`);
  await page.getByText('What happened').waitFor();
  await page.getByRole('group', { name: 'Actions' }).getByRole('button', { name: 'More' }).click();
  expect(await page.getByText('Deploy the baseline').count()).toBe(0);
  const estimate = page.locator('.first-number');
  await estimate.getByText('0.000', { exact: true }).waitFor();
  expect(await estimate.textContent()).toMatch(/0\.000 to 0\.[1-9]/);
});

test('the service says at its field why it refuses a change', async () => {
  const { id, answer } = await heldSession();
  const page = await open(on.service, `#/sessions/${id}`);
  await choose(page, 'Edit');
  await page.getByRole('dialog').getByLabel('Tags').fill('x'.repeat(300));
  await button(page, 'Save').click();
  const tags = page.getByRole('dialog').getByLabel('Tags');
  await until('the field is marked', async () => (await tags.getAttribute('aria-invalid')) === 'true');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await command(on.service, id, 'cancel');
  answer();
});

test('the prompt names what was not shown to help, and links to the prompt without it', async () => {
  const id = await createSession(on.service, withIdleTurns(on.world));
  await ended(on.service, id);
  const page = await open(on.service, `#/sessions/${id}?tab=prompt`);
  const removal = page.getByRole('region', { name: 'Not shown to help' });
  await removal
    .getByRole('listitem')
    .first()
    .getByText(/^Row \d+: rule \d$/)
    .waitFor();
  await removal.getByRole('link').click();
  await page.getByRole('dialog').getByText('and it is shorter than its parent').waitFor();
});
