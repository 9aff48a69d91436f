import { guessColumns } from '../../../../../src/core/prompts/columns.js';
import { client } from '../../../data/client.js';
import { scorerForms } from '../../../../../src/scorers/forms.js';
import { emptyScorer } from '../../../ui/scorer/draft.js';
import { go, link } from '../../../util/router.js';
import { emptyDraft, type PromptMessage, type RunKind } from './draft.js';
import { replace } from './original.js';

/** What the form takes from a run. */
interface Run {
  dataset?: { dataset_id: string; scorer: string } | undefined;
  policy: { provider: string; model: string };
}

/** Opens the form with the data, the model and the prompt of a run. */
export async function newRunFrom(
  kind: Exclude<RunKind, 'graph'>,
  run: Run,
  messages: readonly PromptMessage[],
  addition: string | null,
) {
  const { provider, model } = run.policy;
  replace({
    ...emptyDraft,
    kind,
    provider,
    model,
    messages: withAddition(messages, addition),
    ...(run.dataset && (await dataOf(run.dataset))),
  });
  go(link(['new']));
}

async function dataOf({ dataset_id: datasetId, scorer: type }: NonNullable<Run['dataset']>) {
  const { columns } = await client.value.datasets.get(datasetId);
  // A scorer with required fields is left to the person.
  const isWhole = !(scorerForms[type]?.fields ?? [{ isRequired: true }]).some(({ isRequired }) => isRequired);
  const scorer = isWhole ? { type, values: {} } : emptyScorer;
  return { datasetId, scorer, guessedScorer: null, ...guessColumns(columns) };
}

/** The addition becomes the last line of the first message. */
function withAddition(messages: readonly PromptMessage[], addition: string | null): PromptMessage[] {
  const [first = { role: 'system' as const, content: '' }, ...others] = messages;
  if (addition === null) return [first, ...others];
  return [{ ...first, content: `${first.content.trimEnd()}\n${addition}`.trimStart() }, ...others];
}
