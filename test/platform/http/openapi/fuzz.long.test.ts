import { expect } from '@jest/globals';
import { documentOf } from '../../../support/api.js';
import { z } from 'zod';
import { jobKinds } from '../../../../src/core/jobs/kinds.js';
import { answers, startFakeContainer } from '../../../support/fakes/container.js';
import { pythonWith } from '../../../support/python.js';
import { seedOf } from '../../../support/runs.js';
import { serviceOfFile } from '../../../support/service-of-file.js';
import { startModelWorld } from '../../../support/worlds/model.js';
import { isExpected } from './exceptions.js';
import { narrow } from './narrow.js';
import { operationsOf, type Document } from './recorder.js';
import { fuzz, type Failure } from './schemathesis.js';

// Schemathesis finds no answer that the OpenAPI document does not describe.

const { python, test } = pythonWith('schemathesis', '4.32.5', '3.10');

/**
 * A model that knows some answers, writes prompts and refuses what OpenAI refuses, and a container
 * that rewards everything.
 */
async function startWorld() {
  const model = await startModelWorld(({ n, body: { model, messages, stream } }) => {
    const isChat = z
      .array(z.looseObject({ role: z.string() }))
      .min(1)
      .safeParse(messages).success;
    if (!isChat || !model || typeof (stream ?? false) !== 'boolean')
      return { status: 400, raw: '{"error":{"message":"no"}}' };
    return { text: n % 2 === 0 ? 'Paris' : '```\nAnswer with the name of the capital. {{input}}\n```' };
  });
  const container = await startFakeContainer({
    prompt: [{ role: 'system', content: 'Answer with one word.' }],
    behave: () => answers.reward(1),
  });
  return {
    container,
    model: model.model,
    env: { ...model.env, RATCHET_EGRESS: 'allowlist', RATCHET_EGRESS_ALLOW: new URL(container.url).host },
    close: async () => void (await Promise.all([model.close(), container.close()])),
  };
}

const on = serviceOfFile(startWorld);

/** The bodies of creates take schemathesis long to write: they have a run of their own. */
const creates = `^POST (${Object.values(jobKinds)
  .map(({ path }) => path)
  .join('|')})$`;

// Schemathesis follows links last, in the remaining time: their number depends on the load.
test.each([
  { name: 'operations', seconds: 240, only: [], least: { cases: 500, succeeded: 50, links: 3 } },
  {
    name: 'creates',
    seconds: 60,
    only: ['--include-name-regex', creates],
    least: { cases: 10, succeeded: 4, links: 0 },
  },
])(
  '$name passes all checks in all phases',
  async ({ name, seconds, only, least }) => {
    const { url, apiKey, api } = on.service;
    const whole = await documentOf<Document>(url);
    const document = narrow(whole, { url: on.world.container.url, provider: 'openai' });
    // A run that limits or revokes its own key would test nothing more.
    const { org_id: other } = await api.call<{ org_id: string }>('POST', '/api/v1/admin/orgs', { name: 'x' });
    const settings = [
      '[[operations]]',
      'include-path-regex = "^/api/v1/admin/(keys|limits|provider-keys)"',
      'exclude-method = "GET"',
      `parameters = { "query.org_id" = "${other}" }`,
    ].join('\n');
    const seed = seedOf(`schemathesis, ${name}`, 1);
    const limit = AbortSignal.timeout((seconds + 120) * 1_000);
    const report = await fuzz({ name, python, url, apiKey, document, settings, seed, seconds, only }, limit);

    const { cases, links, operations, succeeded, failures, errors } = report;
    process.stderr.write(
      `schemathesis, ${name}: ${cases} cases, ${succeeded.size} operations with an answer below 400, ${links} links\n`,
    );
    expect(distinct(failures.filter((failure) => !isExpected(failure)))).toEqual([]);
    expect(errors).toEqual([]);
    const selected = operationsOf(whole)
      .map(({ method, path }) => `${method} ${path}`)
      .filter((operation) => only.length === 0 || new RegExp(creates).test(operation));
    expect(selected.filter((operation) => !operations.has(operation))).toEqual([]);
    expect(cases).toBeGreaterThanOrEqual(least.cases);
    expect(succeeded.size).toBeGreaterThanOrEqual(least.succeeded);
    expect(links).toBeGreaterThanOrEqual(least.links);
    expect(on.world.model.requests.length).toBeGreaterThan(50);
  },
  420_000,
);

/** One failure of each check, operation and answer, as text. */
function distinct(failures: readonly Failure[]): string[] {
  const kinds = new Map<string, string>();
  for (const { check, operation, code, pointers, detail } of failures) {
    const kind = [check, operation, code, ...pointers].join(' ');
    if (!kinds.has(kind)) kinds.set(kind, `${kind}: ${detail}`);
  }
  return [...kinds.values()];
}
