/** Answers a search's requests through activities. */
import type { SessionLimits } from '../../activities/index.js';
import type { ProposalAnswer, SearchRequest, SearchResponse } from '../../src/core/search/protocol.js';
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
    case 'proposals':
      return { response: { kind: 'proposals', answers: await answerProposals(context, request) } };
    case 'demos':
      return { response: await answerDemos(context, request) };
  }
}

/** Asks for at most `maxConcurrent` proposals at a time, so that a pause waits for few of them. */
async function answerProposals(
  context: SearchContext,
  request: SearchRequest & { kind: 'proposals' },
): Promise<ProposalAnswer[]> {
  const { job, control, pending, limits } = context;
  while (context.proposed.length < request.requests.length) {
    await control.waitUntilRunnable();
    const done = context.proposed.length;
    const requests = request.requests.slice(done, done + limits.maxConcurrent);
    const summary = summaryOf({ ...request, requests });
    const hint = context.hint === undefined ? {} : { hint: context.hint };
    const answers = await pending.recordWith((update) =>
      propose.executeWithOptions({ summary }, [{ ...job, requests, ...hint, ...update }]),
    );
    context.proposed = [...context.proposed, ...answers];
  }
  const answers = context.proposed;
  context.proposed = [];
  return answers;
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
