import { afterEach, describe, expect, test } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  labelsOf,
  question,
  readIntents,
  score,
  startIntents,
  type LabelGuide,
} from '../../examples/intents/container.js';
import { completeLocally } from '../../src/local-model/complete.js';
import { startFakeModel } from '../support/fakes/model.js';

const folder = join(import.meta.dirname, '../../examples/intents');
const dataFile = join(folder, 'data.jsonl');
const guide = JSON.parse(readFileSync(join(folder, 'labels.json'), 'utf8')) as LabelGuide;
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function serve(files: Record<string, string>): Promise<string> {
  const server: Server = createServer((request, response) => {
    const text = files[request.url!];
    response.writeHead(text === undefined ? 404 : 200).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('the data set', () => {
  const normal = (text: string) =>
    text
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, ' ')
      .trim();

  test('has several hundred distinct messages, balanced over many labels', async () => {
    const tasks = await readIntents(dataFile);
    expect(tasks.length).toBeGreaterThanOrEqual(480);
    expect(new Set(tasks.map(({ text }) => normal(text))).size).toBe(tasks.length);
    const labels = labelsOf(tasks);
    expect(labels.length).toBeGreaterThanOrEqual(14);
    for (const label of labels) {
      const share = tasks.filter((task) => task.label === label).length / tasks.length;
      expect(share * labels.length).toBeGreaterThan(0.8);
      expect(share * labels.length).toBeLessThan(1.2);
    }
    expect(Object.keys(guide).sort()).toEqual(labels);
  });

  test('contains no label in a message, and nearly all labels in every range of seeds', async () => {
    const tasks = await readIntents(dataFile);
    const labels = labelsOf(tasks);
    for (const { text } of tasks) for (const label of labels) expect(text.toLowerCase()).not.toContain(label);
    for (let from = 0; from + 60 <= tasks.length; from += 60) {
      expect(labelsOf(tasks.slice(from, from + 60)).length).toBeGreaterThanOrEqual(labels.length - 3);
    }
  });
});

describe('the score', () => {
  const task = { text: 'Where is it?', label: 'queue_a' };
  const labels = ['queue_a', 'queue_b', 'queue_ab'];

  test.each(['queue_a', ' queue_a\n', '`queue_a`', '"queue_a".', 'The label is queue_a.'])('accepts %j', (answer) => {
    expect(score(task, answer, labels)).toEqual({
      reward: 1,
      feedback: 'Correct: `queue_a`.',
      details: { expected: 'queue_a', answered: 'queue_a' },
    });
  });

  test('explains a wrong label and the right one', () => {
    expect(score(task, 'queue_b', labels, { queue_a: 'parcels' })).toEqual({
      reward: 0,
      feedback: 'Wrong for "Where is it?". It is about parcels. Expected `queue_a`, answered `queue_b`.',
      details: { expected: 'queue_a', answered: 'queue_b' },
    });
    const named = 'Wrong for "Where is it?". Expected `queue_a`, the answer names no single label.';
    for (const answer of ['', 'no idea', 'queue_a or queue_b', 'xqueue_a']) {
      expect(score(task, answer, labels).feedback).toBe(named);
    }
  });
});

describe('the container', () => {
  const rollout = async (url: string, inferenceUrl: string, seed: number, key?: string) => {
    const config = { model: 'local', provider: 'local', inference_url: inferenceUrl, inference_api_key: 'k' };
    const response = await fetch(`${url}/rollout`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key !== undefined && { 'x-api-key': key }) },
      body: JSON.stringify({ rollout_id: `r${seed}`, env: { seed }, policy: { config } }),
    });
    return { status: response.status, body: (await response.json()) as { reward_info: { details: object } } };
  };

  test('serves its own data set, and requires a key if set', async () => {
    const model = await startFakeModel(() => ({ text: 'none' }));
    closing.push(() => model.close());
    const container = await startIntents({ apiKey: 'secret' });
    closing.push(() => container.close());
    const tasks = await readIntents(dataFile);
    expect((await rollout(container.url, model.url, 0)).status).toBe(401);
    await rollout(container.url, model.url, tasks.length + 2, 'secret');
    expect(model.requests[0]!.body.messages[1]!.content).toBe(question(tasks[2]!, labelsOf(tasks)));
  });

  test('loads another data set from a URL', async () => {
    const rows = [
      { text: 'A tulip please', label: 'p1' },
      { text: 'A hammer please', label: 'p2' },
    ];
    const data = await serve({
      '/data.jsonl': rows.map((row) => JSON.stringify(row)).join('\n'),
      '/labels.json': JSON.stringify({ p1: 'flowers' }),
      '/broken.jsonl': '{"text": "x"}',
    });
    const model = await startFakeModel(({ body }) => ({ text: completeLocally(body).choices[0].message.content }));
    closing.push(() => model.close());
    const container = await startIntents({ data: `${data}/data.jsonl`, labels: `${data}/labels.json` });
    closing.push(() => container.close());
    const answers = await Promise.all([0, 1].map((seed) => rollout(container.url, model.url, seed)));
    expect(answers.map(({ body }) => body.reward_info.details)).toMatchObject([{ expected: 'p1' }, { expected: 'p2' }]);
    expect(model.requests.map(({ body }) => body.messages[1]!.content).sort()).toEqual([
      'Message: A hammer please\n\nLabels: p1, p2',
      'Message: A tulip please\n\nLabels: p1, p2',
    ]);
    await expect(startIntents({ data: `${data}/broken.jsonl` })).rejects.toThrow(/broken.jsonl, message 1: expected/);
    await expect(startIntents({ data: `${data}/gone` })).rejects.toThrow(/gone returned status 404/);
  });
});
