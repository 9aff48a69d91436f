import { Context } from '@temporalio/activity';
import { cutText } from '../../src/clients/net/untrusted.js';
import { componentTexts, withTexts } from '../../src/core/prompts/components.js';
import type { Demo } from '../../src/core/prompts/demos.js';
import type { GraphJson } from '../../src/contracts/graphs/graph.js';
import type { SearchSpec } from '../../src/core/jobs/spec.js';
import { structureKey, withGraphTexts } from '../../src/core/graphs/components.js';
import { graphIdentity } from '../../src/core/graphs/identity.js';
import { graphFromJson, graphToJson } from '../../src/core/graphs/json.js';
import {
  lineageOf,
  mergeCandidates,
  removedCandidates,
  type LineageTexts,
} from '../../src/core/proposals/components.js';
import { gepaLimits } from '../../src/core/algorithms/gepa/config.js';
import type { Composition, ProposalAnswer, ProposalRequest } from '../../src/core/search/protocol.js';
import {
  addCandidate,
  candidateTexts,
  readPool,
  type PooledCandidate,
} from '../../src/storage/candidates/candidates.js';
import { buildDemos, NothingToShow } from '../../src/storage/candidates/demos.js';
import type { JobRef } from '../../src/storage/jobs/events.js';
import { readSpec } from '../../src/storage/jobs/spec.js';
import type { ActivityDeps } from '../deps.js';
import { classifyErrors } from '../errors.js';
import { withHeartbeat } from '../heartbeat.js';
import { lockOpenJob, recordLost } from '../jobs/spec.js';
import { recordSearchUpdate, type SearchUpdate } from '../jobs/lifecycle.js';
import { mapLimited } from '../../src/util/map-limited.js';
import { proposeGraph, type ProposedGraph } from './graph.js';
import { reflect, type Reflected } from './reflect.js';

type Merged =
  | { outcome: 'merged'; texts: Record<string, string>; graph?: GraphJson; parents: number[] }
  | { outcome: 'failed'; reason: string };
type Composed = { outcome: 'composed'; texts: Record<string, string>; demos: Demo[]; parents: number[] };
type Result = (Reflected | ProposedGraph | Merged | Composed) & { shown?: number[] };

/**
 * Has a generation's new texts written, all at once, and keeps them in the order asked, so that which of two equal texts
 * counts as the duplicate does not depend on timing. A retry buys nothing twice.
 */
export function proposeActivity(deps: ActivityDeps) {
  const { db } = deps;
  return {
    propose: (
      input: JobRef & { requests: ProposalRequest[]; decided?: SearchUpdate | null },
    ): Promise<ProposalAnswer[]> =>
      classifyErrors(() =>
        withHeartbeat(async () => {
          const job: JobRef = { orgId: input.orgId, jobId: input.jobId };
          const [spec, pool] = await db.org(job.orgId, (tx) =>
            Promise.all([
              readSpec<SearchSpec>(tx, job.jobId),
              readPool(tx, job.jobId),
              input.decided && recordSearchUpdate(tx, job, input.decided),
            ]),
          );
          const needed = input.requests.flatMap(({ parent, merge = [], compose }) => [
            parent,
            ...merge,
            ...(compose?.texts ?? []),
          ]);
          if (!needed.every((one) => pool.has(one))) throw recordLost(job);
          const { cancellationSignal } = Context.current();
          const results = await mapLimited(input.requests, spec.maxConcurrent, async (request): Promise<Result> => {
            if (request.merge) return merge(pool, request.merge);
            if (request.compose) return compose(job, pool, request.compose);
            const parent = pool.get(request.parent)!;
            return spec.kind === 'graph'
              ? proposeGraph(deps, job, spec, request, graphFromJson(parent.graph!), cancellationSignal)
              : reflect(deps, job, spec, request, componentTexts(parent.messages), cancellationSignal);
          });
          return keep(job, spec, input.requests, results);
        }),
      ),
  };

  /** Puts a candidate together out of the texts of others and of rollouts that are shown. */
  async function compose(
    job: JobRef,
    pool: ReadonlyMap<number, PooledCandidate>,
    { texts, demos }: Composition,
  ): Promise<Composed> {
    const names = Object.keys(componentTexts(pool.get(0)!.messages));
    const chosen = names.map((name, index) => [name, componentTexts(pool.get(texts[index]!)!.messages)[name]!] as const);
    const shown = await db
      .org(job.orgId, (tx) => buildDemos(tx, job.jobId, demos))
      .catch((error: unknown) => {
        throw error instanceof NothingToShow ? recordLost(job) : error;
      });
    const others = [...new Set(texts)].filter((one) => one !== 0).sort((left, right) => left - right);
    return {
      outcome: 'composed',
      texts: Object.fromEntries(chosen),
      demos: shown,
      parents: others.length > 0 ? others : [0],
    };
  }

  /** Stores the new texts in the order asked; a text that is already some candidate's is a duplicate. */
  async function keep(
    job: JobRef,
    spec: SearchSpec,
    requests: ProposalRequest[],
    results: Result[],
  ): Promise<ProposalAnswer[]> {
    return db.org(job.orgId, async (tx) => {
      await lockOpenJob(tx, job);
      const pool = await readPool(tx, job.jobId);
      const known = new Map<string, number>();
      for (const [version, { messages, demos, graph }] of pool) {
        const key = keyOf(componentTexts(messages), demos, graph);
        if (!known.has(key)) known.set(key, version);
      }
      const lineages = linesOf(pool);
      const answers: ProposalAnswer[] = [];
      for (const [i, request] of requests.entries()) {
        const result = results[i]!;
        const { candidate } = request;
        const shown = request.pick && result.shown ? { shown: result.shown } : {};
        if (result.outcome === 'failed') {
          const reason = cutText(result.reason.replace(/\p{Cc}+/gu, ' '), gepaLimits.reasonBytes);
          answers.push({ candidate, outcome: 'failed', reason, ...shown });
          continue;
        }
        // A retry finds this very candidate stored: that is not a duplicate.
        const demos = result.outcome === 'composed' ? result.demos : pool.get(request.parent)!.demos;
        const graph = 'graph' in result ? result.graph : undefined;
        const key = result.outcome === 'unchanged' ? null : keyOf(result.texts, demos, graph);
        const holder = key === null ? request.parent : (known.get(key) ?? candidate);
        if (result.outcome === 'unchanged' || holder !== candidate) {
          answers.push({ candidate, outcome: 'duplicate', ...shown });
          continue;
        }
        known.set(key!, candidate);
        const parents = 'parents' in result ? result.parents : [request.parent];
        await addCandidate(tx, job, {
          leverVersion: candidate,
          generation: request.generation,
          parents,
          ...(graph
            ? { messages: null, graph }
            : { messages: withTexts(pool.get(request.parent)!.messages ?? [], result.texts) }),
          detail: detailOf(result),
          ...(spec.algorithm === 'mipro' && { demos }),
        });
        const removed = removedCandidates(lineageOf(lineages, request.parent), result.texts);
        const more = 'parents' in result ? { parents } : request.pick ? { removed } : {};
        answers.push({ candidate, outcome: 'proposed', ...shown, ...more });
      }
      return answers;
    });
  }
}

/** By what two candidates are the same. */
function keyOf(
  texts: Readonly<Record<string, string>>,
  demos: readonly Demo[],
  graph: GraphJson | null | undefined,
): string {
  if (graph) return graphIdentity(graphFromJson(graph));
  return JSON.stringify([
    Object.entries(texts),
    demos.map(({ component, input, output }) => [component, input, output]),
  ]);
}

/** What is kept of how a candidate came about. */
function detailOf(result: Exclude<Result, { outcome: 'failed' | 'unchanged' }>): Record<string, unknown> {
  switch (result.outcome) {
    case 'merged':
      return { merge: { parents: result.parents } };
    case 'composed':
      return { composed: { parents: result.parents } };
    case 'proposed':
      return { reflection: { ordinals: result.shown, components: result.components } };
  }
}

function linesOf(pool: ReadonlyMap<number, PooledCandidate>): Map<number, LineageTexts> {
  return new Map(
    [...pool].map(([candidate, { parents, messages, graph }]) => [
      candidate,
      { candidate, parents, texts: candidateTexts({ messages, graph }) },
    ]),
  );
}

/** Combines candidates that have a parent in common. */
function merge(pool: ReadonlyMap<number, PooledCandidate>, candidates: readonly number[]): Merged {
  const lines = linesOf(pool);
  const sides = candidates.map((candidate) => lines.get(candidate)!);
  const base = sides[0]!.parents.find((parent) => sides.every(({ parents }) => parents.includes(parent)));
  if (base === undefined) return { outcome: 'failed', reason: 'the candidates have no parent in common' };
  const stem = pool.get(base)!.graph;
  const isStem = (candidate: number) =>
    structureKey(graphFromJson(pool.get(candidate)!.graph!)) === structureKey(graphFromJson(stem!));
  if (stem && !candidates.every(isStem)) return { outcome: 'failed', reason: 'the candidates differ in structure' };
  const merged = mergeCandidates(lines.get(base)!.texts, sides);
  if (!merged) return { outcome: 'failed', reason: 'the candidates changed the same places in different ways' };
  if (!stem) return { outcome: 'merged', ...merged };
  const rewritten = withGraphTexts(graphFromJson(stem), merged.texts);
  return rewritten.ok
    ? { outcome: 'merged', ...merged, graph: graphToJson(rewritten.graph) }
    : { outcome: 'failed', reason: 'what the candidates changed makes no valid graph together' };
}
