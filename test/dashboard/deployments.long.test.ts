import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { browserOfFile, isTooWide, violations } from '../support/browser.js';
import { ask, built, deploy, readDeployment, saying } from '../support/deployments-over-http.js';
import { ended, sessions } from '../support/jobs-over-http.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { until } from '../support/until.js';
import { startRowsWorld } from '../support/worlds/rows.js';

// The pages of deployments: what a name serves, and how that is changed.

const on = serviceOfFile(() => startRowsWorld());
const { test, open } = browserOfFile();

const question = { messages: [{ role: 'user', content: 'Row 1: rule 1' }] };
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const confirm = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true });
/** The version that answers the name. */
async function served(name: string): Promise<string | null> {
  return (await ask(on.service, name, question)).headers.get('x-ratchet-deployment-id');
}
const shownId = (page: Page) => /dep_\w+/.exec(page.url())?.[0];

/** Versions of a name that say these texts, the last one live. */
async function versions(name: string, ...texts: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const text of texts) {
    const id = await deploy(on.service, { name, source: saying(text) });
    await built(on.service, id);
    ids.push(id);
  }
  return ids;
}

test('a name is rolled back and a version promoted, and callers get it', async () => {
  const [first, second] = await versions('router', 'Answer in short.', 'Answer in short, without a greeting.');
  expect(await served('router')).toBe(second);
  const page = await open(on.service, '#/deployments');
  const row = page.getByRole('row').filter({ hasText: 'router' });
  await until('the request is counted', async () => (await row.getByRole('cell').nth(4).textContent()) === '1');
  await row.getByRole('link', { name: 'router' }).click();
  const table = page.getByRole('region', { name: 'Table of versions' });
  await until('both versions are listed', async () => (await table.getByRole('row').count()) === 3);

  await page.getByLabel('Compare with').selectOption({ index: 1 });
  const difference = page.getByRole('region', { name: 'Difference of snapshots' });
  await until(
    'the difference is drawn',
    async () => String(await difference.getByRole('list').locator('ins').allTextContents()) === ', without a greeting',
  );

  await button(page, 'Roll back').click();
  expect(await served('router')).toBe(second);
  await confirm(page, 'Roll back').click();
  await until('the page is that of the restored version', () => Promise.resolve(shownId(page) === first));
  expect(await served('router')).toBe(first);

  await page.goto(`${on.service.url}/#/deployments/${second}`);
  await button(page, 'Promote').click();
  await confirm(page, 'Promote').click();
  await until('it serves the name', async () => (await served('router')) === second);
  expect(shownId(page)).toBe(second);
  await page
    .getByRole('list', { name: 'Changes' })
    .getByText("production: 1 → 2, set by the service's first key")
    .waitFor();
  await page.getByRole('heading', { level: 1 }).getByText('live').waitFor();
  expect(on.world.model.requests.at(-1)!.body.messages[0]!.content).toBe('Answer in short, without a greeting.');
});

test('traffic over an hour has its sums, its errors, and the change of what is served', async () => {
  const [, second] = await versions('busy', 'Answer.', 'Answer in short.');
  for (let n = 0; n < 3; n += 1) expect(await served('busy')).toBe(second);
  const { api } = on.service;
  const path = '/api/harbor/deployments/busy/history?per=minute';
  await until('they are counted', async () => {
    const { data } = await api.call<{ data: { requests: number }[] }>('GET', path);
    return data.reduce((sum, { requests }) => sum + requests, 0) === 3;
  });
  const page = await open(on.service, `#/deployments/${second}?span=hour`);
  const panel = page.getByRole('region', { name: 'Traffic' });
  const chart = panel.getByRole('img', { name: 'Requests and errors of the last 1 h' });
  await chart.waitFor();
  // The first version had no predecessor; both are marks.
  expect(await chart.locator('.traffic-mark').count()).toBe(2);
  await panel.locator('.stat', { hasText: 'Requests' }).getByText('3', { exact: true }).waitFor();
  await panel.getByRole('button', { name: '7 d' }).click();
  await panel.getByRole('img', { name: 'Requests and errors of the last 7 d' }).waitFor();
  expect(page.url()).toContain('span=week');
  expect([await violations(page), await isTooWide(page)]).toEqual([[], false]);
});

test('a version is deleted after a question; a name without versions serves nothing', async () => {
  const [only] = await versions('short-lived', 'Answer.');
  const page = await open(on.service, `#/deployments/${only}`);
  await button(page, 'Delete').click();
  await page.getByRole('dialog').getByText('requests get 404').waitFor();
  await confirm(page, 'Delete').click();
  await until('the page is the list', () => Promise.resolve(page.url().endsWith('#/deployments')));
  expect((await ask(on.service, 'short-lived', question)).status).toBe(404);
});

test('a gate with the scorer of the run lets no version pass that is below its demand', async () => {
  const job = { ...on.world.job(20), gepa: { generations: 1, population_size: 2 }, budget: { max_rollouts: 40 } };
  const { session_id: id } = await on.service.api.call<{ session_id: string }>('POST', sessions, {
    policy_optimization: { algorithm: 'gepa', ...job, scorer: { type: 'contains', case_sensitive: true } },
    name: 'gated run',
  });
  await ended(on.service, id);
  const page = await open(on.service, `#/deployments?source=${id}`);
  const form = page.getByRole('dialog');
  await page.getByRole('dialog', { name: 'Deploy the best candidate of gated run' }).waitFor();
  await form.getByRole('textbox', { name: 'Name' }).fill('gated-name');
  await form.getByLabel(/^Gate/).selectOption('A mean reward of at least …');
  await until('the demand is missing', () => button(page, 'Deploy').isDisabled());
  await form.getByRole('textbox', { name: 'At least' }).fill('2');
  expect(await form.getByLabel('Type of scorer').locator('option:checked').textContent()).toBe(
    'As in the run: Contains',
  );
  expect(await form.getByLabel('Input column').inputValue()).toBe('question');
  await form.getByLabel('Rows (optional)').fill('30-39');
  await button(page, 'Deploy').click();
  const rows = form.getByLabel('Rows (optional)');
  await until('the rows are refused', async () => (await rows.getAttribute('aria-invalid')) === 'true');
  await rows.fill('0-9');
  await button(page, 'Deploy').click();
  await form.getByText('failed', { exact: true }).waitFor({ timeout: 30_000 });
  await form.getByText(/The candidate has \d/).waitFor();
  // Behind the dialog, before it is closed.
  await page.locator('main').getByText('gated-name', { exact: true }).first().waitFor();
  await page.reload();
  await page.getByRole('dialog', { name: 'Deploying gated-name' }).waitFor();
  expect(await button(page, 'Deploy').count()).toBe(0);
  await form.getByRole('link', { name: 'Open the deployment' }).click();
  await page.getByRole('region', { name: 'Gate' }).getByText('not passed').waitFor();
  const { gate, live } = await readDeployment(on.service, shownId(page)!);
  expect({ live, passed: gate!.passed, seeds: gate!.seeds, scorer: gate!.dataset!.scorer }).toEqual({
    live: false,
    passed: false,
    seeds: 10,
    scorer: 'contains',
  });
}, 60_000);

test('a rollout shows how far it has come; a person pauses, resumes and promotes it', async () => {
  const [first] = await versions('stepwise', 'Answer in short.');
  const rollout = { until: 'decided', steps: [1, 50, 100] };
  const next = await deploy(on.service, { name: 'stepwise', source: saying('Answer at length.'), rollout });
  const statusIs = async (status: string) => (await readDeployment(on.service, next)).rollout?.status === status;
  await until('it is rolled out', () => statusIs('running'));
  await ask(on.service, first!, question);
  const page = await open(on.service, `#/deployments/${next}`);
  const panel = page.getByRole('region', { name: 'Rollout' });
  await panel.getByText('Step 1 of 2: 1 % of the requests.').waitFor();
  await panel.getByText('In the step 0 requests, and 1 of the live version.').waitFor();

  await button(page, 'Pause').click();
  await panel.getByText('paused', { exact: true }).waitFor();
  expect(await statusIs('paused')).toBe(true);
  await button(page, 'Resume').click();
  await panel.getByText('running', { exact: true }).waitFor();
  expect(await statusIs('running')).toBe(true);

  await button(page, 'Promote now').click();
  expect(await statusIs('running')).toBe(true);
  await confirm(page, 'Promote now').click();
  await panel.getByText('promoted', { exact: true }).waitFor();
  await panel.getByText('Promoted by hand.').waitFor();
  expect(await button(page, 'Roll back now').count()).toBe(0);
  await until('it serves the name', async () => (await served('stepwise')) === next);
});

test('the prompt of each version in the playground leads to its evaluation', async () => {
  const [first, second] = await versions('played', 'Answer at length.', 'Answer in a word.');
  const page = await open(on.service, `#/playground?deployment=played&beside=${first}`);
  const links = page.getByRole('link', { name: 'Evaluate on …' });
  await until('both have a link', async () => (await links.count()) === 2);
  expect(await links.first().getAttribute('href')).toBe(`#/new?evaluate=${second}`);
  await links.last().click();
  const field = page.getByLabel('Text of message 1');
  await until('the form has the prompt', async () => (await field.inputValue()) === 'Answer at length.');
});
