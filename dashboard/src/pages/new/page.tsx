import { useEffect, useState } from 'preact/hooks';
import { scorerForms } from '../../../../src/scorers/forms.js';
import { client } from '../../data/client.js';
import { errorAt, fieldErrors, otherErrors } from '../../data/field-errors.js';
import { useResource } from '../../data/resource.js';
import { go, pageOf, route, setQuery } from '../../util/router.js';
import { Panel, Problem } from '../../ui/basics.js';
import { Heading } from '../../ui/heading.js';
import { ScorerFields } from '../../ui/scorer/fields.js';
import { BudgetPanel } from './budget-panel.js';
import { DataPanel } from './data-panel.js';
import { holderOf, missingParts, promptPointer, type RunKind } from './draft.js';
import { start, useEstimate } from './estimate.js';
import { ModelPanel } from './model-panel.js';
import { clear, requestOfForm } from './original.js';
import { OriginalPanel } from './original-panel.js';
import { PromptPanel } from './prompt-panel.js';
import { RequestPanel } from './request-panel.js';
import { sampleDraft } from './sample.js';
import { change, draft } from './store.js';
import { Summary } from './summary.js';

const kinds: Record<RunKind, { label: string; hint: string }> = {
  session: { label: 'Optimize', hint: 'Search for a better prompt' },
  evaluation: { label: 'Evaluate', hint: 'Score a prompt on all rows' },
};

/** The form of a new optimization or evaluation on rows. */
export function NewRunPage() {
  const sampleError = useSample();
  const { kind, datasetId } = draft.value;
  const { data: dataset, error: datasetError } = useDataset(datasetId);
  const missing = missingParts(draft.value);
  const body = missing.length === 0 ? requestOfForm(draft.value) : undefined;
  const request = body ? JSON.stringify(body, null, 2) : null;
  const estimate = useEstimate(kind, request);
  const [startError, setStartError] = useState<{ of: string; error: unknown } | null>(null);
  const error = startError?.of === request ? startError.error : estimate.error;
  const errors = fieldErrors(error, holderOf(kind));
  const at = (field: string, except: string[] = []) => errorAt(errors, field, except);
  const prompt = promptPointer[kind];
  const others = otherErrors(errors, [prompt, ...shownFields]);
  const onStart = async () => {
    try {
      const id = await start(kind, body);
      go(pageOf(id));
    } catch (caught) {
      setStartError({ of: request!, error: caught });
    }
  };
  return (
    <>
      <div class="page-head">
        <Heading title="New run" />
        <div class="actions">
          <a class="button" href="#/new?sample=1">
            Fill in the sample
          </a>
          <button type="button" class="button" onClick={clear}>
            Clear
          </button>
        </div>
      </div>
      <Problem error={sampleError} />
      <div class="form-page">
        <form onSubmit={(event) => event.preventDefault()}>
          <KindChoice />
          <DataPanel dataset={dataset} error={datasetError ?? at('/dataset', ['/input', '/expected'])} errorAt={at} />
          <PromptPanel columns={dataset?.columns.map(({ name }) => name)} error={at(prompt)} />
          <Panel title="Scorer">
            <ScorerFields
              draft={draft.value.scorer}
              onChange={(scorer) => change({ scorer })}
              errorAt={(field) => (field === '' ? at('/scorer', fieldsOfScorer()) : at(`/scorer/${field}`))}
            />
          </Panel>
          <ModelPanel errorAt={at} />
          <BudgetPanel errorAt={at} />
          <RequestPanel request={request} />
        </form>
        <aside class="form-summary">
          <OriginalPanel request={body} />
          <Summary
            {...{ missing, others, onStart }}
            estimate={{ ...estimate, error }}
            hasFieldErrors={errors.length > others.length}
          />
        </aside>
      </div>
    </>
  );
}

/** Fields with a place for their errors. */
const shownFields = [
  'dataset',
  'scorer',
  'policy',
  'proposer',
  'budget',
  'timeout',
  'gepa',
  'mipro',
  'name',
  'tags',
].map((name) => `/${name}`);

const fieldsOfScorer = () => scorerForms[draft.value.scorer.type]!.fields.map(({ name }) => `/${name}`);

function KindChoice() {
  return (
    <fieldset class="kind-choices">
      <legend class="visually-hidden">Kind of run</legend>
      {Object.entries(kinds).map(([kind, { label, hint }]) => (
        <label key={kind} class="kind-choice">
          <input
            type="radio"
            name="kind"
            checked={draft.value.kind === kind}
            onChange={() => change({ kind: kind as RunKind })}
          />
          <span>
            <strong>{label}</strong> <span class="quiet">{hint}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function useDataset(id: string) {
  return useResource(`dataset ${id}`, async (signal) =>
    id === '' ? undefined : client.value.datasets.get(id, { signal }),
  );
}

/** Fills the form with the sample if the address asks for it; returns why that failed. */
function useSample(): unknown {
  const [error, setError] = useState<unknown>(null);
  const isAsked = route.value.query.get('sample') === '1';
  useEffect(() => {
    if (!isAsked) return;
    setError(null);
    sampleDraft()
      .then((sample) => (draft.value = sample), setError)
      .finally(() => setQuery({ sample: null }));
  }, [isAsked]);
  return error;
}
