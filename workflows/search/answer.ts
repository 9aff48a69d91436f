/** Answers a search's requests through activities. */
import type { SearchUpdate, SessionLimits } from '../../activities/index.js';
import type { ProposalAnswer, ProposalRequest, SearchRequest, SearchResponse } from '../../src/core/search/protocol.js';
import { findDemos, propose } from '../activities.js';
import { answerByTraffic } from '../rollouts/live.js';
import { answerByRollouts, type RolloutContext } from '../rollouts/run.js';
import { summaryOf } from './describe.js';

export interface SearchContext extends RolloutContext {
  limits: SessionLimits;
  /** Answers to the first of the current proposal requests; a new run continues after them. */
  proposed: ProposalAnswer[];
  /** The id of the hint in the proposer's prompts; undefined: none was given. */
  hint: string | undefined;
}

/** A response; `traffic`: how calls of live traffic are compared. */
export interface AnsweredRequest {
  response: SearchResponse;
  traffic?: 'paired' | 'unpaired' | null;
}

export async function answerRequest(
  context: SearchContext,
  request: Exclude<SearchRequest, { kind: 'done' | 'failed' }>,
): Promise<AnsweredRequest> {
  switch (request.kind) {
    case 'rollouts': {
      if (context.limits.live) {
        const { answers, traffic } = await answerByTraffic(context, request.requests, summaryOf(request));
        return { response: { kind: 'rollouts', answers }, traffic };
      }
      const answers = await answerByRollouts(context, request.requests, summaryOf(request));
      return { response: { kind: 'rollouts', answers } };
    }
    case 'proposals': {
      const answers = await answerProposals(context, request.requests, (activity) =>
        context.pending.recordWith(activity),
      );
      context.proposed = [];
      return { response: { kind: 'proposals', answers } };
    }
    case 'round':
      return { response: await answerRound(context, request) };
    case 'demos':
      return { response: await answerDemos(context, request) };
  }
}

/**
 * Answers rollouts and proposals side by side. The rollouts record the update. Proposals that have
 * arrived stay in `proposed` until the rollouts have, so a new run continues after both.
 */
async function answerRound(
  context: SearchContext,
  { rollouts: requests, proposals }: SearchRequest & { kind: 'round' },
): Promise<SearchResponse> {
  const summary = summaryOf({ kind: 'rollouts', requests });
  const [rollouts, answers] = await Promise.all([
    answerByRollouts(context, requests, summary),
    answerProposals(context, proposals, (activity) => activity({})),
  ]);
  context.proposed = [];
  return { kind: 'round', rollouts, proposals: answers };
}

/** Asks for at most `maxConcurrent` proposals at a time, so that a pause waits for few of them. */
async function answerProposals(
  context: SearchContext,
  requests: ProposalRequest[],
  record: (activity: (update: { update?: SearchUpdate }) => Promise<ProposalAnswer[]>) => Promise<ProposalAnswer[]>,
): Promise<ProposalAnswer[]> {
  const { job, control, limits } = context;
  while (context.proposed.length < requests.length) {
    await control.waitUntilRunnable();
    const done = context.proposed.length;
    const slice = requests.slice(done, done + limits.maxConcurrent);
    const summary = summaryOf({ kind: 'proposals', requests: slice });
    const hint = context.hint === undefined ? {} : { hint: context.hint };
    const answers = await control.untilRest(
      record((update) => propose.executeWithOptions({ summary }, [{ ...job, requests: slice, ...hint, ...update }])),
    );
    context.proposed = [...context.proposed, ...answers];
  }
  return context.proposed;
}

async function answerDemos(
  { job, control, pending }: SearchContext,
  demos: SearchRequest & { kind: 'demos' },
): Promise<SearchResponse> {
  await control.waitUntilRunnable();
  const { request } = demos;
  const answer = await pending.recordWith((update) =>
    findDemos.executeWithOptions({ summary: summaryOf(demos) }, [{ ...job, request, ...update }]),
  );
  return { kind: 'demos', answer };
}
