import { graphJobStarted } from '../../src/core/events/search.js';
import { initialGraphOf, type GraphSpec } from '../../src/core/jobs/spec.js';
import { addCandidate } from '../../src/candidates/store/candidates.js';
import { startSearch } from '../drive/search.js';
import { baseline, type KindActivities } from './kind.js';
import { beginSearch, endSearch } from './search.js';

export const graphActivities: KindActivities<GraphSpec> = {
  models: ({ policy, proposer }) => [
    { policy, field: 'policy_model' },
    { policy: proposer, field: 'proposer.model' },
  ],

  startEvents({ search, numTasks: tasks }) {
    const { algorithm, evaluationSeeds, generations } = search;
    return [graphJobStarted({ algorithm, generations, tasks, evaluationTasks: evaluationSeeds.length })];
  },

  async begin(tx, job, spec, { run }) {
    await addCandidate(tx, job, { ...baseline, messages: null, graph: initialGraphOf(spec) });
    return beginSearch(tx, job, spec, run);
  },

  drive: startSearch,
  end: endSearch,
};
