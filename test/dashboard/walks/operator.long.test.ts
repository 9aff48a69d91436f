import { beforeAll, expect } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { browserOfFile, isTooWide, violations } from '../../support/browser.js';
import { built, deploy } from '../../support/deployments-over-http.js';
import { readJob, type Evaluation } from '../../support/jobs-over-http.js';
import { lookOptions, looks } from '../../support/looks.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';
import { callOften, startIncident } from '../../support/worlds/incident.js';

const on = serviceOfFile(() => startIncident());
const { describe, test, open } = browserOfFile();

const policy = { provider: 'fake', model: 'policy' };
const messages = [{ role: 'system', content: 'Answer well.' }];

async function evaluate(name: string, datasetId: string): Promise<string> {
  const dataset = { dataset_id: datasetId, input: 'question', expected: 'answer' };
  const job = { dataset, scorer: 'exact', policy, candidate: { messages }, max_failure_rate: 1, preflight: false };
  const body = { ...job, name, max_concurrent: 4, tags: [name] };
  return (await on.service.api.call<{ job_id: string }>('POST', '/api/v1/offline/jobs', body)).job_id;
}

const shoot = process.env['SHOTS'];

describe('in an incident', () => {
  const jobs: string[] = [];
  let calling: ReturnType<typeof callOften> | undefined;
  beforeAll(async () => {
    const { service, world } = on;
    for (const source of [
      { messages, policy },
      { messages, policy: { ...policy, model: 'other' } },
    ])
      await built(service, await deploy(service, { name: 'router', source }));
    const { dataset_id } = await service.api.client.datasets.upload(world.rows(4_000));
    for (const name of ['nightly one', 'nightly two']) jobs.push(await evaluate(name, dataset_id));
    calling = callOften(service.api, 'router');
    world.turn('throttled');
    await until(
      'the provider is throttled',
      async () => {
        const { providers, deployments } = await service.api.client.health();
        return providers.some(({ state }) => state === 'throttled') && deployments[0]?.state === 'failing';
      },
      90,
      500,
    );
    await until('both jobs are slowed down', async () => {
      const all = await Promise.all(jobs.map((id) => readJob<Evaluation>(service, id)));
      return all.every(({ concurrency }) => concurrency.limit < concurrency.max_concurrent);
    });
  }, 180_000);

  test.each(looks)('the page says within five seconds what fails and who is affected, at %o', async (look) => {
    const page = await open(on.service, '#/now', lookOptions(look));
    const provider = page.getByRole('region', { name: 'Provider fake' });
    await provider
      .getByText(/^429 since \d\d:\d\d$/)
      .first()
      .waitFor();
    await provider.getByText('Running: nightly').waitFor();
    await provider.getByText('Deployments: router').waitFor();
    // Since the navigation.
    expect(await page.evaluate('performance.now()')).toBeLessThan(5_000);
    const strip = page.getByRole('banner').getByRole('link', { name: /fake: 429 since/ });
    expect(await strip.textContent()).toMatch(/fake: 429 since \d\d:\d\d · 2 jobs throttled · 1 deployment failing/);
    expect(await violations(page)).toEqual([]);
    expect(await isTooWide(page)).toBe(false);
    await page.getByRole('link', { name: 'Errors', exact: true }).click();
    const failures = page.getByRole('list', { name: 'Latest failed requests of router' });
    await failures.getByText('429').first().waitFor();
    expect(await failures.getByRole('listitem').count()).toBeLessThanOrEqual(20);
    expect(page.url()).toContain('deployment=router');
    expect(await isTooWide(page)).toBe(false);
    if (shoot)
      writeFileSync(`${shoot}/now-${look.width}-${look.colorScheme}.png`, await page.screenshot({ fullPage: true }));
  });

  test('lists and pages of jobs say why they are slow', async () => {
    const page = await open(on.service);
    await page
      .getByRole('row', { name: /nightly one/ })
      .getByText(/of 4 at a time: fake 429 since/)
      .waitFor();
    await page.getByRole('link', { name: 'nightly one' }).click();
    await page
      .getByRole('note', { name: 'Warnings' })
      .getByText(/of 4 at a time: fake 429 since/)
      .waitFor();
    await page.locator('.live-pace').waitFor();
    if (shoot) writeFileSync(`${shoot}/job.png`, await page.screenshot({ fullPage: true }));
  });

  test.each(looks)('one action pauses the jobs with a tag, another goes on with them, at %o', async (look) => {
    const { service } = on;
    const page = await open(service, '#/now', lookOptions(look));
    const table = page.getByRole('region', { name: 'Open jobs' });
    await table.getByRole('combobox', { name: 'Tag' }).selectOption('nightly two');
    expect(page.url()).toContain('tag=nightly+two');
    await table.getByRole('link', { name: 'nightly one' }).waitFor({ state: 'detached' });
    const say = (verb: string) => page.getByRole('button', { name: `${verb} all with tag nightly two` });
    await say('Pause').click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('listitem').allTextContents()).toEqual(['nightly two evaluation']);
    await dialog.getByRole('button', { name: /^Pause all/ }).click();
    await table.getByText("paused by the service's first key").waitFor();
    const statuses = await Promise.all(jobs.map((id) => readJob(service, id)));
    expect(statuses.map(({ status }) => status)).toEqual(['running', 'paused']);
    expect(await violations(page)).toEqual([]);
    expect(await isTooWide(page)).toBe(false);
    if (shoot)
      writeFileSync(`${shoot}/tag-${look.width}-${look.colorScheme}.png`, await page.screenshot({ fullPage: true }));

    await page.getByRole('link', { name: 'nightly two' }).click();
    await page
      .locator('.live-state')
      .getByText(/^Paused by the service's first key, \d+ s ago$/)
      .waitFor();
    if (shoot) writeFileSync(`${shoot}/paused-${look.width}-${look.colorScheme}.png`, await page.screenshot());
    await page.goBack();
    await say('Resume').click();
    await dialog.getByRole('button', { name: /^Resume all/ }).click();
    await dialog.waitFor({ state: 'detached' });
    expect((await readJob(service, jobs[1]!)).status).toBe('running');
  });

  test.each(looks)('one action pauses all jobs of the provider, another goes on with them, at %o', async (look) => {
    const { service, world } = on;
    const statuses = async () =>
      (await Promise.all(jobs.map((id) => readJob(service, id)))).map(({ status }) => status);
    const page = await open(service, '#/now', lookOptions(look));
    await page.getByRole('button', { name: 'Pause all on fake' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('listitem').allTextContents()).toEqual(
      expect.arrayContaining(['nightly one evaluation', 'nightly two evaluation']),
    );
    await dialog.getByRole('button', { name: 'Pause all on fake' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await statuses()).toEqual(['paused', 'paused']);

    world.turn('well');
    await page.getByRole('button', { name: 'Resume all' }).click();
    await dialog.getByRole('button', { name: 'Resume all' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await statuses()).toEqual(['running', 'running']);
  });

  test('a rollback is one action, and names what is served then', async () => {
    const page = await open(on.service, '#/now');
    await page.getByRole('button', { name: 'Roll back' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await page.getByRole('cell', { name: 'router v1' }).waitFor();
    await calling!.stop();
  });
});

test('one banner says that the service is away, in place of an error in each panel', async () => {
  const page = await open(on.service, '#/now');
  await page.getByRole('region', { name: 'Service' }).waitFor();
  await page.context().setOffline(true);
  const banner = page.getByRole('alert').filter({ hasText: 'Disconnected since' });
  await banner.waitFor({ timeout: 40_000 });
  expect(await banner.textContent()).toMatch(/Disconnected since \d\d:\d\d, figures of \d\d:\d\d\./);
  expect(await page.getByRole('alert').count()).toBe(1);
  await page.context().setOffline(false);
  await banner.waitFor({ state: 'detached', timeout: 20_000 });
});
