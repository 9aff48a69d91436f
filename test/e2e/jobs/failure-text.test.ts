import { describe, expect, test } from '@jest/globals';
import { Client, WorkflowFailedError } from '@temporalio/client';
import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { findTemporalBinary } from '../../../src/platform/embedded/temporal-binary.js';
import { dataConverter } from '../../../src/platform/temporal/connection.js';
import { temporalAddress, temporalFolder } from '../../support/environment.js';
import { answers, type FakeContainerOptions } from '../../support/fakes/container.js';
import { containersOfEachTest } from '../../support/fakes/containers-of-each-test.js';
import { createEvaluation, ended, type Evaluation } from '../../support/jobs-over-http.js';
import type { TestService } from '../../support/service.js';
import { stopReasonAttribute } from '../../../workflows/messages.js';
import { serviceOfFile } from '../../support/service-of-file.js';

// Invariant: users and operators see what a container said when it failed a job; a codec key hides
// it, and all other text of failures, from Temporal.

const codecKey = randomBytes(32);
const world = { env: { RATCHET_CODEC_KEY: codecKey.toString('base64') }, close: () => Promise.resolve() };
const encrypted = serviceOfFile(() => Promise.resolve(world));
const plain = serviceOfFile();
const container = containersOfEachTest();

/** Containers that refuse the key with this text: before the first rollout, or in it. */
const refusals: [string, number, (text: string) => FakeContainerOptions][] = [
  ['its check', 2, (text) => ({ health: answers.status(401, `{"detail":"unauthorised: ${text}"}`) })],
  ['a rollout', 1, (text) => ({ behave: () => answers.status(401, `{"detail":"unauthorised: ${text}"}`) })],
];

/** Fails an evaluation by a container's text, and waits for the end of its workflow. */
async function fail(service: TestService, optionsOf: (text: string) => FakeContainerOptions) {
  const text = `canary-${randomUUID()}`;
  const { url } = await container(optionsOf(text));
  const policy = { provider: 'local', model: 'local' };
  const id = await createEvaluation(service, { container_url: url, seeds: [0, 1], policy });
  const { error_details: error } = await ended<Evaluation>(service, id);
  await service
    .workflow(id)
    .result()
    .catch(() => undefined);
  return { id, text, error };
}

/** The failures of a job's history as the server stores them. */
async function storedFailures(service: TestService, id: string) {
  const { events } = await service.workflow(id).fetchHistory();
  return (events ?? []).flatMap((event) => {
    const { activityTaskFailedEventAttributes: activity, workflowExecutionFailedEventAttributes: workflow } = event;
    return activity?.failure ?? workflow?.failure ?? [];
  });
}

function isInTemporalsFiles(text: string): boolean {
  const files = readdirSync(temporalFolder()).filter((name) => name.startsWith('temporal.db'));
  return files.some((name) => readFileSync(join(temporalFolder(), name)).includes(text));
}

describe.each(refusals)('text that a container sends as it refuses %s', (_, count, optionsOf) => {
  test('is in the error of the job, and in the failures of Temporal', async () => {
    const { id, text, error } = await fail(plain.service, optionsOf);
    expect(error).toMatchObject({ code: 'container_refused_key', message: expect.stringContaining(text) });
    const failures = await storedFailures(plain.service, id);
    expect(failures).toHaveLength(count);
    for (const failure of failures) {
      expect(failure).toMatchObject({ message: `container_refused_key: ${error!.message}`, cause: null });
    }
    const { typedSearchAttributes } = await plain.service.workflow(id).describe();
    expect(typedSearchAttributes.get(stopReasonAttribute)).toBe('container_refused_key');
  });

  test('is nowhere in the files of Temporal with a codec key, nor are messages and stack traces', async () => {
    const { service } = encrypted;
    const { id, text, error } = await fail(service, optionsOf);
    expect(error).toMatchObject({ code: 'container_refused_key', message: expect.stringContaining(text) });
    const failures = await storedFailures(service, id);
    expect(failures).toHaveLength(count);
    for (const { message, stackTrace } of failures) expect([message, stackTrace]).toEqual(['Encoded failure', '']);
    expect([isInTemporalsFiles(id), isInTemporalsFiles(text)]).toEqual([true, false]);
  });
});

test('a client with the codec key reads the failure of a workflow', async () => {
  const { connection, options } = encrypted.service.temporal;
  const { id, text } = await fail(encrypted.service, refusals[0]![2]);
  const client = new Client({ connection, namespace: options.namespace, dataConverter: dataConverter(codecKey) });
  const failure = await client.workflow
    .getHandle(`evaluation-${id}`)
    .result()
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(WorkflowFailedError);
  expect((failure as WorkflowFailedError).cause).toMatchObject({
    message: expect.stringContaining('container_refused_key'),
    details: [{ message: expect.stringContaining(text), retryable: false }],
  });
});

test('an operator reads it with the command line of Temporal, through the codec server of the API', async () => {
  const { url, apiKey, temporal } = encrypted.service;
  const { id, text } = await fail(encrypted.service, refusals[0]![2]);
  const binary = await findTemporalBinary(pino({ level: 'silent' }), join(homedir(), '.cache', 'ratchet'));
  const { stdout } = await promisify(execFile)(binary, [
    'workflow',
    'show',
    '--workflow-id',
    `evaluation-${id}`,
    '--output',
    'json',
    '--address',
    temporalAddress(),
    '--namespace',
    temporal.options.namespace,
    '--codec-endpoint',
    `${url}/codec`,
    '--codec-auth',
    `Bearer ${apiKey}`,
  ]);
  const payloads = [...stdout.matchAll(/"data": "([^"]+)"/g)].map(([, data]) =>
    Buffer.from(data!, 'base64').toString(),
  );
  const shown = [stdout, ...payloads].join('\n');
  expect(shown).toContain('container_refused_key: ');
  expect(shown).toContain(text);
});
