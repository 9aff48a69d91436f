import { showsGoodAnswers } from '../../src/core/algorithms/gepa/config.js';
import { sessionStarted } from '../../src/core/events/search.js';
import { unitOf } from '../../src/core/jobs/unit.js';
import type { SessionSpec } from '../../src/core/jobs/spec.js';
import type { Message } from '../../src/core/prompts/message.js';
import { addCandidate } from '../../src/candidates/store/candidates.js';
import { baseline, type KindActivities } from './kind.js';
import { beginSearch, endSearch } from './search.js';
import { isLive } from '../jobs/spec.js';
import { startSearch } from '../drive/search.js';

export const sessionActivities: KindActivities<SessionSpec> = {
  models(spec) {
    const proposer = { policy: spec.proposer, field: 'proposer.model' };
    return isLive(spec) ? [proposer] : [{ policy: spec.policy, field: 'policy.model' }, proposer];
  },

  async findPrompt({ container }, spec, { key, run, signal }) {
    if (run > 1 || spec.initialPrompt || !spec.container) return spec.initialPrompt;
    return componentsOf((await container.taskInfo(spec.container.url, key, signal)).initialPrompt);
  },

  startEvents(spec, prompt) {
    const { algorithm, evaluationSeeds, generations } = spec.search;
    const baselineKnown = prompt !== null;
    const evaluation = { evaluationSeeds: evaluationSeeds.length, unit: unitOf(spec) };
    return [sessionStarted({ algorithm, generations, baselineKnown, ...evaluation })];
  },

  async begin(tx, job, spec, { run, prompt }) {
    const demos = showsGoodAnswers(spec.search) ? { demos: [] } : {};
    await addCandidate(tx, job, { ...baseline, messages: prompt, ...demos });
    return beginSearch(tx, job, spec, run);
  },

  drive: startSearch,
  end: endSearch,
};

/** The components to optimize: the named messages, else the only system message. */
function componentsOf(messages: Message[] | null): Message[] | null {
  const named = messages?.filter(({ name }) => name !== undefined) ?? [];
  if (named.length > 0) return named;
  const system = messages?.filter((message) => message.role === 'system') ?? [];
  return system.length === 1 ? system : null;
}
