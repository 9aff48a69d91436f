import { expect } from '@jest/globals';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { copyText, type Form } from '../../dashboard/src/pages/configuration/copy-as.js';
import { browserOfFile, violations } from '../support/browser.js';
import {
  createEvaluation,
  createSession,
  ended,
  pathOf,
  readJob,
  type Evaluation,
  type Session,
} from '../support/jobs-over-http.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { until } from '../support/until.js';
import { rowsBaseline, startRowsWorld } from '../support/worlds/rows.js';

// The request of a run: read, edited and run again, branched, and sent from a shell.

const on = serviceOfFile(() => startRowsWorld());
const { test, open } = browserOfFile();

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const changed = (page: Page) => page.getByRole('list', { name: 'Changed fields' });

interface Read {
  request: { policy_optimization: Record<string, unknown> } & Record<string, unknown>;
  omitted: string[];
}
const requestOf = (id: string) => on.service.api.call<Read>('GET', `${pathOf(id)}/request`);

async function endedSession(name: string): Promise<Session> {
  const gepa = { generations: 6, population_size: 2 };
  const id = await createSession(on.service, { ...on.world.job(24), gepa, budget: { max_rollouts: 150 }, patience: 5 });
  await on.service.api.call('PATCH', pathOf(id), { name });
  return ended<Session>(on.service, id);
}

/** Starts the run and returns its id. */
async function started(page: Page): Promise<string> {
  await until('the estimate is there', () => button(page, 'Start').isEnabled());
  await button(page, 'Start').click();
  return until('the page is that of the run', () => Promise.resolve(/#\/\w+\/((?:evl|ses)_\w+)/.exec(page.url())?.[1]));
}

test('an ended run is edited and run again, with the difference and the last price', async () => {
  const original = await endedSession('first');
  const id = original.session_id;
  const page = await open(on.service, `#/sessions/${id}?tab=configuration`);
  await page.getByRole('region', { name: 'Budget and limits' }).getByText('150', { exact: true }).waitFor();
  await page.getByRole('region', { name: 'First prompt' }).getByText(rowsBaseline).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('tabpanel').getByRole('link', { name: 'Edit and run' }).click();

  await page.getByText('Nothing is changed.').waitFor();
  const { rollouts_completed: rollouts } = original.progress;
  await page.getByText(new RegExp(`^Last time .*, ${rollouts} answers\\.$`)).waitFor();
  await page.getByText('More', { exact: true }).click();
  await page.getByLabel('Answers, at most').fill('170');
  await page.getByLabel('Text of message 1').fill('Answer very well.');
  await changed(page).getByText('Answers, at most: 150 170').waitFor();
  expect(await changed(page).getByRole('listitem').count()).toBe(2);
  expect(await violations(page)).toEqual([]);
  await page.reload();
  await changed(page).getByText('Answers, at most: 150 170').waitFor();

  const next = await started(page);
  const { request: before } = await requestOf(id);
  const { request: after } = await requestOf(next);
  expect(after).toEqual({
    ...before,
    policy_optimization: {
      ...before.policy_optimization,
      budget: { max_rollouts: 170 },
      initial_prompt: { messages: [{ role: 'system', content: 'Answer very well.' }] },
    },
  });
  await ended(on.service, next);
}, 90_000);

test('a candidate is branched, and the winner evaluated on another data set', async () => {
  const original = await endedSession('second');
  const { session_id: id, best_candidate: best } = original;
  const bestId = best!.candidate_id;
  const page = await open(on.service, `#/sessions/${id}?candidate=${bestId}`);
  await page.getByRole('dialog').getByRole('link', { name: 'Branch from here' }).click();
  const text = page.getByLabel('Text of message 1');
  await until('the prompt is there', async () => (await text.inputValue()).includes('rule-'));
  const branch = await started(page);
  expect(await readJob<Session>(on.service, branch)).toMatchObject({
    branched_from: { job_id: id, candidate_id: bestId },
  });
  await page.getByRole('link', { name: new RegExp('^candidate #') }).waitFor();
  await ended(on.service, branch);

  const other = await on.service.api.call<{ dataset_id: string }>('POST', '/api/v1/datasets', on.world.rows(7));
  await page.goto(`${on.service.url}/#/sessions/${id}?tab=configuration`);
  await page.getByRole('list', { name: 'Runs made from this one' }).getByRole('link').waitFor();
  await page.getByRole('tab', { name: 'Prompt' }).click();
  await page.getByRole('link', { name: 'Evaluate on …' }).click();
  await page.getByLabel('Data set').selectOption(other.dataset_id);
  await page.getByText('7 rows', { exact: true }).waitFor();
  const evaluation = await ended<Evaluation>(on.service, await started(page));
  expect(evaluation).toMatchObject({
    status: 'completed',
    progress: { total: 7 },
    dataset: { dataset_id: other.dataset_id },
    candidate: { session_id: id, candidate_id: bestId },
  });
}, 120_000);

test('a run on a container is edited as JSON, and its key stays on the service', async () => {
  const {
    dataset: _dataset,
    scorer: _scorer,
    initial_prompt: _prompt,
    proposer: _proposer,
    preflight: _,
    ...rest
  } = on.world.job(1) as Record<string, unknown>;
  const id = await createEvaluation(on.service, {
    ...rest,
    app_id: 'a',
    env_name: 'b',
    seeds: [1],
    container_url: 'http://127.0.0.1:9',
    container_api_key: 'never-shown',
  });
  const page = await open(on.service, `#/new?from=${id}`);
  const json = page.getByLabel('Request as JSON');
  const request = JSON.parse(await json.inputValue()) as { seeds: number[] };
  expect(JSON.stringify(request)).not.toContain('never-shown');
  await json.fill(JSON.stringify({ ...request, seeds: [1, 2] }));
  await changed(page).getByRole('listitem').waitFor();
  await page.getByLabel('Key of the container (never shown)').fill('given-again');
  const next = await started(page);
  expect((await requestOf(next)).omitted).toEqual(['/container_api_key']);
}, 60_000);

test('the commands that the page copies make the same run', async () => {
  const { session_id: id } = await endedSession(`it's "third"\n\\ '''`.replaceAll('\n', ' '));
  const { request, omitted } = await requestOf(id);
  const copied = (form: Form) => copyText(form, on.service.url, { kind: 'session', jobId: id, request, omitted });
  const environment = { env: { ...process.env, RATCHET_API_KEY: on.service.apiKey } };
  const run = promisify(execFile);
  const curl = JSON.parse((await run('sh', ['-c', copied('curl')], environment)).stdout) as { session_id: string };
  const python = (await run('python3', ['-c', copied('python')], environment)).stdout.trim();
  const ratchet = `ratchet() { "${process.execPath}" dist/src/cli/ratchet.js "$@"; }\n`;
  const cli = (await run('sh', ['-c', ratchet + copied('cli')], environment)).stdout.trim();
  for (const made of [curl.session_id, python, cli]) expect((await requestOf(made)).request).toEqual(request);
  for (const form of ['curl', 'python', 'cli', 'json'] as const) expect(copied(form)).not.toContain(on.service.apiKey);
}, 90_000);
