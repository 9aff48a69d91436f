import { beforeAll, expect } from '@jest/globals';
import { browserOfFile, violations } from '../support/browser.js';
import { built, deploy } from '../support/deployments-over-http.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { until } from '../support/until.js';
import { startRowsWorld } from '../support/worlds/rows.js';

const on = serviceOfFile(() => startRowsWorld());
const { test, open } = browserOfFile();
const policy = { provider: 'fake', model: 'policy' };
const messages = [{ role: 'system', content: 'Answer well.' }];
let last = '';

beforeAll(async () => {
  const { service, world } = on;
  const { dataset_id } = await service.api.client.datasets.upload(world.rows(4), { name: 'tickets of march' });
  for (let n = 0; n < 30; n += 1) {
    const dataset = { dataset_id, input: 'question', expected: 'answer' };
    const body = { dataset, scorer: 'exact', policy, candidate: { messages }, name: `run ${n}`, preflight: false };
    last = (await service.api.call<{ job_id: string }>('POST', '/api/v1/offline/jobs', body)).job_id;
  }
  await built(service, await deploy(service, { name: 'router', source: { messages, policy } }));
}, 120_000);

test('the list of runs is where it was when one comes back', async () => {
  const page = await open(on.service);
  const link = page.getByRole('link', { name: 'run 3', exact: true });
  await link.scrollIntoViewIfNeeded();
  const scrolled = () => page.evaluate('scrollY') as Promise<number>;
  await until('the page has scrolled', async () => (await scrolled()) > 200);
  const before = await scrolled();
  await link.click();
  await page.getByRole('heading', { level: 1, name: 'run 3' }).waitFor();
  expect(await scrolled()).toBe(0);
  await page.goBack();
  await link.waitFor();
  await until('the page is where it was', async () => (await scrolled()) === before);
});

test('tabs are entries of the history', async () => {
  const page = await open(on.service, `#/evaluations/${last}`);
  const selected = page.getByRole('tab', { selected: true });
  await page.getByRole('tab', { name: 'Rows', exact: true }).click();
  await until('Rows is shown', async () => (await selected.textContent()) === 'Rows');
  await page.goBack();
  await until('Overview is shown', async () => (await selected.textContent()) === 'Overview');
});

test('keys search the page, list themselves, and find runs, data sets and deployments', async () => {
  const page = await open(on.service);
  const { keyboard } = page;
  await page.getByRole('link', { name: 'run 29', exact: true }).waitFor();
  await keyboard.press('/');
  expect(await page.locator(':focus').getAttribute('aria-label')).toBe('Search names');
  // In a field they are letters.
  await keyboard.press('?');
  expect(await page.getByRole('dialog').count()).toBe(0);
  await page.getByRole('heading', { level: 1 }).focus();
  await keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  expect(await violations(page)).toEqual([]);
  await keyboard.press('Escape');

  const goTo = async (text: string, option: RegExp) => {
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').fill(text);
    await page.getByRole('option', { name: option }).waitFor();
    await until('it is the first', async () =>
      option.test((await page.locator('[role=option]').first().textContent())!),
    );
    if (text === 'march') expect(await violations(page)).toEqual([]);
    await keyboard.press('Enter');
  };
  await goTo('march', /tickets of march data set/);
  await page.getByRole('heading', { level: 1, name: 'tickets of march' }).waitFor();
  await goTo('run 17', /run 17 evaluation/);
  await page.getByRole('heading', { level: 1, name: 'run 17' }).waitFor();
  await goTo('rout', /router deployment/);
  await page.getByRole('heading', { level: 1, name: /router/ }).waitFor();
  await goTo(last, new RegExp(last));
  await page.getByRole('heading', { level: 1, name: 'run 29' }).waitFor();
  await goTo('playg', /Playground page/);
  await page.getByRole('heading', { level: 1, name: 'Playground' }).waitFor();
});

test('the id of a run is copied', async () => {
  const page = await open(on.service, `#/evaluations/${last}`, { permissions: ['clipboard-read', 'clipboard-write'] });
  await page.getByRole('button', { name: `Copy the id ${last}` }).click();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(last);
  await page.getByRole('button', { name: 'Copy link' }).click();
  await until('the link is copied', async () => (await page.evaluate('navigator.clipboard.readText()')) === page.url());
});
