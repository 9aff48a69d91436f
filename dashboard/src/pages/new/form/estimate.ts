import { useEffect, useState } from 'preact/hooks';
import type { DryRun } from '../../../../../src/client/index.js';
import { client } from '../../../data/client.js';
import { estimateClone, startClone } from '../../../data/request.js';
import type { RunKind } from './draft.js';
import type { Body } from './from-request.js';
import { cloneOf, secrets } from './original.js';
import { draft } from './store.js';

const creates = { session: 'createSession', evaluation: 'createEvaluation', graph: 'createGraphJob' } as const;

/** What the create would answer, without a run. */
async function dryRun(kind: RunKind, body: unknown, signal: AbortSignal): Promise<DryRun> {
  const clone = cloneOf(draft.value, body as Body);
  if (clone) return estimateClone(clone, signal);
  const args = { query: { dry_run: 'true' as const }, body: body as never, signal };
  return (await client.value.request(creates[kind], args as never)) as DryRun;
}

/** Starts the run; returns its id. */
export async function start(kind: RunKind, body: unknown): Promise<string> {
  const clone = cloneOf(draft.value, body as Body);
  if (clone) return startClone(clone);
  const { job_id: id } = (await client.value.request(creates[kind], { body } as never)) as { job_id: string };
  return id;
}

export interface EstimateState {
  /** The request that was judged, as JSON. */
  of: string | null;
  answer?: DryRun;
  error?: unknown;
}

const pauseMs = 400;

/** The estimate of a request, once typing rests; null: there is none to judge yet. */
export function useEstimate(kind: RunKind, request: string | null): EstimateState & { isCurrent: boolean } {
  const [state, setState] = useState<EstimateState>({ of: null });
  const key = request === null ? null : `${kind} ${request} ${JSON.stringify(secrets.value)}`;
  useEffect(() => {
    if (request === null) return setState({ of: null });
    const stopping = new AbortController();
    const settle = (next: EstimateState) => {
      if (!stopping.signal.aborted) setState(next);
    };
    const timer = setTimeout(() => {
      dryRun(kind, JSON.parse(request), stopping.signal).then(
        (answer) => settle({ of: key, answer }),
        (error: unknown) => settle({ of: key, error }),
      );
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      stopping.abort();
    };
  }, [key]);
  return { ...state, isCurrent: state.of === key };
}
