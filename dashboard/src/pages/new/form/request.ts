/** The bodies of the requests of a draft without problems. */
import { algorithms } from '../../../../../src/cli/task/search.js';
import { scorerOf } from '../../../ui/scorer/draft.js';
import { isBlank, isOnRows, numberOf, type Draft } from './draft.js';

type Body = Record<string, unknown>;

/** The create of the draft's kind. `rows`: the name of its rows, for a run without a name. */
export function requestOf(draft: Draft, rows: string | null = null): Body {
  if (draft.json !== null) return JSON.parse(draft.json) as Body;
  const body = { session: sessionOf, evaluation: evaluationOf, graph: graphOf }[draft.kind](draft);
  const tags = listOf(draft.tags);
  const name = draft.name.trim() || (isOnRows(draft) ? rows : null);
  return { ...body, ...(name && { name }), ...(tags.length > 0 && { tags }) };
}

/** A try of the prompt, or of the graph of the prompt, on some of the rows. */
export function tryOf(draft: Draft, rows: number): Body {
  const dollars = numberOf(draft.dollars);
  const tried = draft.kind === 'graph' ? graphOfPrompt(draft) : answeredBy(draft);
  return { ...tried, ...(dollars !== null && { budget: { max_cost_usd: dollars } }), rows };
}

function sessionOf(draft: Draft): Body {
  const { algorithm } = draft;
  const { seeds, ...source } = sourceOf(draft);
  return {
    policy_optimization: {
      algorithm,
      ...source,
      policy: policyOf(draft),
      ...proposerOf(draft),
      ...(!isBlank(draft.messages) && { initial_prompt: promptOf(draft) }),
      [algorithm]: { ...algorithms[algorithm], ...(seeds !== undefined && { evaluation: { seeds } }) },
      budget: budgetOf(draft),
    },
  };
}

function evaluationOf(draft: Draft): Body {
  const [minutes, dollars] = [numberOf(draft.minutes), numberOf(draft.dollars)];
  return {
    ...answeredBy(draft),
    ...(!isOnRows(draft) && { app_id: 'default' }),
    ...(dollars !== null && { budget: { max_cost_usd: dollars } }),
    ...(minutes !== null && { timeout: minutes * 60 }),
  };
}

const answeredBy = (draft: Draft): Body => ({
  ...sourceOf(draft),
  policy: policyOf(draft),
  ...(!isBlank(draft.messages) && { candidate: promptOf(draft) }),
});

function graphOf(draft: Draft): Body {
  const { max_rollouts: rollouts, ...budget } = budgetOf(draft);
  return {
    ...graphOfPrompt(draft),
    ...proposerOf(draft),
    ...(rollouts !== undefined && { rollout_budget: rollouts }),
    budget,
  };
}

/** The graph of one step, its tasks and its model. */
function graphOfPrompt(draft: Draft): Body {
  const { provider, model } = draft;
  const scorer = scorerOf(draft.scorer);
  const { type: mode, ...settings } = typeof scorer === 'string' ? { type: scorer } : scorer;
  return {
    dataset: { ...datasetOf(draft), initial_prompt: promptOf(draft), verifier_config: { mode, ...settings } },
    policy_provider: provider,
    policy_model: model.trim(),
  };
}

function sourceOf(draft: Draft): Body {
  const { containerUrl, envName, seeds, scorer } = draft;
  if (!isOnRows(draft)) {
    const name = envName.trim();
    return { container_url: containerUrl.trim(), ...(name && { env_name: name }), seeds: seedsOf(seeds) };
  }
  return { dataset: datasetOf(draft), scorer: scorerOf(scorer) };
}

const datasetOf = ({ datasetId, input, expected }: Draft): Body => ({
  dataset_id: datasetId,
  ...(input && { input }),
  ...(expected && { expected }),
});

/** A range as it is, or numbers with commas between. */
function seedsOf(text: string): unknown {
  return text.includes(',') ? listOf(text).map(Number) : text.trim();
}

const policyOf = ({ provider, model }: Draft) => ({ provider, model: model.trim() });

const proposerOf = ({ proposerProvider: provider, proposerModel: model }: Draft) =>
  provider === '' ? {} : { proposer: { provider, model: model.trim() } };

const promptOf = ({ messages }: Draft) => ({ messages: messages.filter(({ content }) => content.trim() !== '') });

function budgetOf({ rollouts, dollars, minutes }: Draft): Record<string, number> {
  const limits = { max_rollouts: rollouts, max_cost_usd: dollars, max_minutes: minutes };
  return Object.fromEntries(
    Object.entries(limits).flatMap(([name, text]) => {
      const limit = numberOf(text);
      return limit === null ? [] : [[name, limit]];
    }),
  );
}

const listOf = (text: string) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
