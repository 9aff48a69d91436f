/**
 * How often verdicts tell equal prompts apart, with a model that answers some rows by chance:
 * npm run bench -- aa
 */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { measure } from '../../src/cli/check/measure.js';
import type { ReadTask } from '../../src/cli/task/task.js';
import type { Conclusion } from '../../src/core/math/statistics.js';
import { nextUint32, seedRng, type Rng } from '../../src/core/math/random.js';
import { completed, startService, type Service } from '../service.js';
import { markdownTable } from '../table.js';

export const name = 'aa';

const runs = 200;
const rowCount = 100;
/** Rows that are always answered right; the others each have a chance of their own. */
const certainShare = 0.5;
const atOnce = 4;
const policy = { provider: 'bench', model: 'chance' };
const proposer = { provider: 'bench', model: 'proposer' };
const scorer = { type: 'exact' } as const;

/** The table of false alarms by kind of verdict. */
export async function run(): Promise<string> {
  const models = await startModels();
  try {
    const service = await startService(models.url);
    try {
      const lines = [];
      for (const [what, verdict] of verdictsOf(service)) {
        const verdicts = await each(runs, verdict);
        const count = (wanted: Conclusion) => verdicts.filter((one) => one === wanted).length;
        const counts = (['better', 'worse', 'inconclusive'] as const).map((one) => String(count(one)));
        process.stderr.write(`  ${what}: ${counts.join(', ')}\n`);
        lines.push([what, String(runs), ...counts]);
      }
      return markdownTable(['equal prompts', 'runs', 'better', 'worse', 'inconclusive'], lines);
    } finally {
      await service.stop();
    }
  } finally {
    await models.close();
  }
}

type Verdict = (n: number) => Promise<Conclusion>;

function verdictsOf({ client }: Service): [what: string, verdict: Verdict][] {
  const rows = Array.from({ length: rowCount }, (_, row) => ({ input: `row ${row}`, expected: 'yes' }));
  const messages = [{ role: 'system' as const, content: 'Answer the question.' }];
  const fields = { dataset: { rows }, scorer, policy, preflight: false };
  const evaluate = async () => {
    const job = await client.createEvaluation({ ...fields, candidate: { messages } });
    await completed(job);
    return job.id;
  };
  return [
    [
      `session, ${rowCount} rows, budget 300, winner against baseline`,
      async (n) => {
        const job = await client.createSession({
          policy_optimization: {
            ...fields,
            algorithm: 'gepa',
            gepa: { population_size: 2, generations: 100 },
            proposer,
            initial_prompt: { messages },
            budget: { max_rollouts: 300 },
            rng_seed: n,
          },
        });
        await completed(job);
        return (await job.results()).verdict!;
      },
    ],
    [
      `compare, two evaluations of ${rowCount} rows`,
      async () => (await client.compare(await evaluate(), await evaluate())).verdict,
    ],
    [
      `check, ${rowCount} rows`,
      async () => {
        const task = { rows, data: 'rows.json', scorer: 'exact', policy: {}, messages: null } as unknown as ReadTask;
        const version = { prompt: { messages }, model: 'bench/chance' };
        return (await measure(client, task, { head: version, base: version }, {})).comparison!.verdict;
      },
    ],
    [
      `gate, ${rowCount} rows`,
      async (n) => {
        const served = [{ role: 'system' as const, content: 'Answer the question.' }];
        const source = { messages: served, policy };
        const gate = { dataset: { rows }, scorer, preflight: false };
        const name = `aa-${n}`;
        await (await client.deployments.create({ name, source })).wait();
        const job = await client.deployments.create({ name, source, gate: { ...gate, min_improvement: 0 } });
        await job.wait();
        return (await job.get()).gate!.comparison!.verdict;
      },
    ],
  ];
}

async function each(count: number, verdict: Verdict): Promise<Conclusion[]> {
  const verdicts: Conclusion[] = [];
  let next = 0;
  const work = async () => {
    while (next < count) verdicts.push(await verdict(next++));
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return verdicts;
}

/** A policy whose answers no prompt changes, and a proposer of ever new texts. */
async function startModels(): Promise<{ url: string; close(): Promise<void> }> {
  let rng: Rng = seedRng(1);
  const uniform = () => {
    const [value, after] = nextUint32(rng);
    rng = after;
    return value / 2 ** 32;
  };
  const chances = Array.from({ length: rowCount }, () => (uniform() < certainShare ? 1 : uniform()));
  let texts = 0;
  const answerTo = ({ model, messages }: { model: string; messages: { content: string }[] }) => {
    if (model === proposer.model) return `\`\`\`\nAnswer the question, in manner ${texts++}.\n\`\`\``;
    const [, row] = /row (\d+)/.exec(messages.at(-1)!.content) ?? [];
    // A preflight asks about no row.
    return row === undefined || uniform() < chances[Number(row)]! ? 'yes' : 'no';
  };
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const message = { role: 'assistant', content: answerTo(JSON.parse(body) as Parameters<typeof answerTo>[0]) };
      const usage = { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ id: 'x', choices: [{ index: 0, message, finish_reason: 'stop' }], usage }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
