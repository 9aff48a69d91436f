/** What the form of a deployment holds, and the request of it. */
import { kindOfJob } from '../../../data/kinds.js';
import { emptyScorer, scorerOf, scorerProblems, type ScorerDraft } from '../../../ui/scorer/draft.js';

export interface DeployDraft {
  name: string;
  demand: 'none' | 'min_reward' | 'min_improvement';
  least: string;
  scoredBy: 'dataset' | 'container';
  datasetId: string;
  input: string;
  expected: string;
  scorer: ScorerDraft;
  /** The type of the session's scorer, which the type "" stands for; null: it has none. */
  sessionScorer: string | null;
  containerUrl: string;
  /** `0-99`, or `1, 5, 9`. */
  seeds: string;
}

export const emptyDeploy: DeployDraft = {
  name: '',
  demand: 'none',
  least: '0',
  scoredBy: 'dataset',
  datasetId: '',
  input: '',
  expected: '',
  scorer: emptyScorer,
  sessionScorer: null,
  containerUrl: '',
  seeds: '',
};

/** The request's body, from a draft without missing parts. */
export function deployRequest(draft: DeployDraft, sourceId: string, candidateId: string | null) {
  const job = kindOfJob(sourceId) === 'graph' ? { graph_job_id: sourceId } : { session_id: sourceId };
  const source = { ...job, ...(candidateId !== null && { candidate_id: candidateId }) };
  const gate = gateOf(draft);
  return { name: draft.name.trim(), source, ...(gate && { gate }) };
}

function gateOf(draft: DeployDraft): Record<string, unknown> | null {
  const { demand, least, scoredBy, datasetId, input, expected, scorer, containerUrl, seeds } = draft;
  if (demand === 'none') return null;
  const limit = { [demand]: Number(least) };
  const chosen = seeds.trim() === '' ? {} : { seeds: seedsOf(seeds) };
  if (scoredBy === 'container') return { ...limit, container_url: containerUrl.trim(), ...chosen };
  const dataset = { dataset_id: datasetId, ...(input && { input }), ...(expected && { expected }) };
  return { ...limit, dataset, ...(scorer.type && { scorer: scorerOf(scorer) }), ...chosen };
}

/** A list as numbers; a range stays text. */
function seedsOf(text: string): number[] | string {
  const trimmed = text.trim();
  return /^[\d\s,]+$/.test(trimmed)
    ? trimmed
        .split(/[\s,]+/)
        .filter(Boolean)
        .map(Number)
    : trimmed;
}

/** What the form lacks before it can be sent. */
export function missingOf(draft: DeployDraft): string[] {
  const isGated = draft.demand !== 'none';
  const onRows = isGated && draft.scoredBy === 'dataset';
  const inContainer = isGated && draft.scoredBy === 'container';
  return [
    draft.name.trim() === '' && 'a name',
    isGated && (draft.least.trim() === '' || Number.isNaN(Number(draft.least))) && 'the number that the gate demands',
    onRows && draft.datasetId === '' && 'a data set',
    onRows && Object.keys(scorerProblems(draft.scorer)).length > 0 && 'the fields of the scorer',
    inContainer && draft.containerUrl.trim() === '' && 'the URL of the container',
    inContainer && draft.seeds.trim() === '' && 'seeds',
  ].filter((part) => part !== false);
}

/** A text as a name of a deployment: `Support routing` as `support-routing`. */
export function nameOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9._]+/g, '-')
    .replace(/^[^a-z0-9]+|-$/g, '')
    .slice(0, 100);
}
