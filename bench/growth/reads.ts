/** Every read of the API against the filled database, and its latency. */
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { now } from '../clock.js';
import { percentile } from '../stats.js';
import type { Row } from '../table.js';
import type { World } from '../world.js';
import type { Templates } from './templates.js';

export interface Read {
  what: string;
  path: string;
  /** The first bytes of an event stream. */
  stream?: true;
}

/** Latencies in milliseconds, and the size of the answer. */
export interface ReadTimes {
  p50: number;
  p99: number;
  bytes: number;
}

const [sessions, jobs, graphs, deployments] = [
  '/api/v1/online/sessions',
  '/api/v1/offline/jobs',
  '/api/graphgen/jobs',
  '/api/harbor/deployments',
];

/** All reads; jobs of usual size, then those at their limits. */
export function allReads(templates: Templates, large: { session: string; running: string }): Read[] {
  const { session, evaluation, graph, deployment, largeEvaluation } = templates;
  const [best, other] = [`cand_${session.slice(4)}_1`, `cand_${session.slice(4)}_0`];
  const list = (base: string, noun: string): Read[] =>
    [
      ['', ''],
      ['?state=running', ' by state'],
      ['?name=nosuchname', ' by name'],
      ['?tag=nosuchtag', ' by tag'],
      ['?metadata=%7B%22team%22%3A%22nosuchteam%22%7D', ' by metadata'],
      ['?created_before=2000-01-01T00:00:00Z', ' by time'],
    ].map(([query, by]) => ({ what: `list of ${noun}${by}`, path: `${base}${query || '?limit=100'}` }));
  return [
    { what: 'session: status', path: `${sessions}/${session}` },
    { what: 'session: results', path: `${sessions}/${session}/results` },
    { what: 'session: history', path: `${sessions}/${session}/history` },
    { what: 'session: prompt', path: `${sessions}/${session}/prompt` },
    { what: 'session: candidates', path: `${sessions}/${session}/candidates` },
    { what: 'session: a candidate', path: `${sessions}/${session}/candidates/${best}` },
    { what: 'session: seed-evals', path: `${sessions}/${session}/candidates/${best}/seed-evals` },
    { what: 'session: pareto', path: `${sessions}/${session}/pareto` },
    { what: 'session: sensor frames', path: `${sessions}/${session}/sensor-frames` },
    { what: 'session: levers', path: `${sessions}/${session}/levers` },
    { what: 'session: events', path: `${sessions}/${session}/events?limit=100` },
    { what: 'session: event stream, first bytes', path: `${sessions}/${session}/events`, stream: true },
    { what: 'session: a trace', path: `${sessions}/${session}/traces/rol_${session.slice(4)}_0` },
    { what: 'evaluation: status', path: `${jobs}/${evaluation}` },
    { what: 'evaluation: results', path: `${jobs}/${evaluation}/results` },
    { what: 'evaluation: events', path: `${jobs}/${evaluation}/events?limit=100` },
    { what: 'graph job: status', path: `${graphs}/${graph}` },
    { what: 'graph job: candidates', path: `${graphs}/${graph}/candidates` },
    { what: 'graph job: pareto', path: `${graphs}/${graph}/pareto` },
    { what: 'compare', path: `/api/v1/compare?a=${best}&b=${other}` },
    { what: 'deployment: status', path: `${deployments}/${deployment}/status` },
    { what: 'deployment: statistics', path: `${deployments}/${deployment}/stats` },
    { what: 'list of deployments', path: deployments },
    { what: 'list of deployments by tag', path: `${deployments}?tag=nosuchtag` },
    ...list(sessions, 'sessions'),
    ...list(jobs, 'evaluations'),
    ...list(graphs, 'graph jobs'),
    { what: 'list of data sets', path: '/api/v1/datasets' },
    { what: '/readyz', path: '/readyz' },
    { what: 'session of 500 candidates: status', path: `${sessions}/${large.session}` },
    { what: 'session of 500 candidates: results', path: `${sessions}/${large.session}/results` },
    { what: 'session of 500 candidates: candidates', path: `${sessions}/${large.session}/candidates` },
    { what: 'session of 500 candidates: pareto', path: `${sessions}/${large.session}/pareto` },
    {
      what: 'session of 500 candidates: events from the middle',
      path: `${sessions}/${large.session}/events?limit=100&since_seq=150000`,
    },
    { what: 'evaluation of 10,000 seeds: status', path: `${jobs}/${largeEvaluation}` },
    { what: 'evaluation of 10,000 seeds: events', path: `${jobs}/${largeEvaluation}/events?limit=100&since_seq=5000` },
    { what: 'evaluation of 10,000 seeds, running: status', path: `${jobs}/${large.running}` },
  ];
}

/** Calls each read `times` times, one after the other, all reads in turn. */
export async function measureReads(world: World, reads: readonly Read[], times: number): Promise<ReadTimes[]> {
  const agent = new Agent({ connections: 2 });
  const headers = { authorization: `Bearer ${world.apiKey}` };
  const took = reads.map((): number[] => []);
  const bytes = reads.map(() => 0);
  try {
    for (let round = -2; round < times; round += 1) {
      for (const [at, { path, stream }] of reads.entries()) {
        const from = now();
        const accept = stream ? 'text/event-stream' : 'application/json';
        const answer = await request(world.url + path, { dispatcher: agent, headers: { ...headers, accept } });
        if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${await answer.body.text()}`);
        if (stream) {
          for await (const chunk of answer.body) {
            bytes[at] = (chunk as Buffer).length;
            break;
          }
        } else bytes[at] = (await answer.body.arrayBuffer()).byteLength;
        // The first rounds fill caches.
        if (round >= 0) took[at]!.push(now() - from);
      }
      await delay(1);
    }
  } finally {
    await agent.destroy();
  }
  return took.map((all, at) => ({ p50: percentile(all, 50), p99: percentile(all, 99), bytes: bytes[at]! }));
}

/** p99 of each read, beside the same in the small database. */
export function readRows(
  reads: readonly Read[],
  rollouts: number,
  large: readonly ReadTimes[],
  small: readonly ReadTimes[],
): Row[] {
  const millions = `${(rollouts / 1_000_000).toLocaleString('en-US')} million rollouts stored`;
  return reads.map(({ what }, at) => ({
    what: `${millions}: ${what}, p99`,
    value: large[at]!.p99,
    unit: 'ms',
    beside: { what: 'a small database', value: small[at]!.p99 },
    aim: { of: 'value', most: 20 },
    raw: { large: large[at], small: small[at] },
  }));
}
