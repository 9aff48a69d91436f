import { sampleFields, sampleOf } from '../../../../../src/cli/task/sample.js';
import sampleUrl from '../../../../../examples/intents/data.jsonl?url';
import { client } from '../../../data/client.js';
import { emptyDraft, type Draft } from './draft.js';

/** The draft of `ratchet init`'s project; its rows are uploaded. */
export async function sampleDraft(): Promise<Draft> {
  const file = await fetch(sampleUrl);
  if (!file.ok) throw new Error(`The sample's rows are not served: ${file.status}.`);
  const { rows, prompt } = sampleOf(await file.text());
  const { dataset_id: datasetId } = await client.value.datasets.upload(rows, {
    type: 'application/jsonl',
    name: 'Sample',
  });
  const { input, expected, scorer, model, budget } = sampleFields;
  return {
    ...emptyDraft,
    name: 'Sample',
    datasetId,
    input,
    expected,
    provider: model,
    model,
    rollouts: String(budget),
    scorer: { type: scorer, values: {} },
    guessedScorer: null,
    messages: [{ role: 'system', content: prompt.trim() }],
  };
}
