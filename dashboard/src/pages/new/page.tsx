import { useEffect, useMemo, useState } from 'preact/hooks';
import { scorerForms } from '../../../../src/scorers/forms.js';
import { guessText, type ScorerGuess } from '../../../../src/scorers/guess.js';
import { client } from '../../data/client.js';
import { errorAt, fieldErrors, otherErrors } from '../../data/field-errors.js';
import { useResource } from '../../data/resource.js';
import { go, pageOf, route, setQuery } from '../../util/router.js';
import { Panel, Problem } from '../../ui/basics.js';
import { Heading } from '../../ui/heading.js';
import { ScorerFields } from '../../ui/scorer/fields.js';
import { BudgetPanel } from './budget-panel.js';
import { DataPanel } from './data-panel.js';
import {
  holderOf,
  isOnRows,
  missingParts,
  missingToTry,
  promptPointer,
  sourceOfDraft,
  type Draft,
} from './form/draft.js';
import { start, useEstimate } from './form/estimate.js';
import { factsOf } from './form/facts.js';
import { useGuesses } from './form/guess.js';
import { KindChoice } from './kind-choice.js';
import { ModelPanel } from './model-panel.js';
import { clear, replace, replaced, requestOfForm, undo } from './form/original.js';
import { OriginalPanel } from './original-panel.js';
import { PromptPanel } from './prompt-panel.js';
import { RequestPanel } from './request-panel.js';
import { sampleDraft } from './form/sample.js';
import { ContainerPanel } from './source-panel.js';
import { change, draft } from './form/store.js';
import { Summary } from './summary.js';
import { TryPanel, type TriedForm } from './try-panel.js';
import { useRows } from './form/use-rows.js';

/** A new run in four steps: data, prompt, a try of a few rows, budget. */
export function NewRunPage() {
  const sampleError = useSample();
  const { kind, datasetId, input, expected } = draft.value;
  const { data: dataset, error: datasetError } = useDataset(datasetId);
  const rows = useRows(dataset);
  const facts = useMemo(
    () => rows && dataset && factsOf(rows, { input, expected }, dataset.columns),
    [rows, dataset, input, expected],
  );
  const guesses = useGuesses(dataset, rows);
  const missing = missingParts(draft.value);
  const body = missing.length === 0 ? requestOfForm(draft.value, dataset?.name) : undefined;
  const request = body ? JSON.stringify(body, null, 2) : null;
  const estimate = useEstimate(kind, request);
  const { startError, onStart } = useStart(kind, body, request);
  const { tried, setTried } = useTried();
  const error = startError?.of === request ? startError.error : estimate.error;
  const errors = fieldErrors(error, holderOf(kind));
  const at = (field: string, except: string[] = []) => errorAt(errors, field, except);
  const prompt = promptPointer[kind];
  const others = otherErrors(errors, [prompt, ...shownFields]);
  const onRows = isOnRows(draft.value);
  const scorer = kind === 'graph' ? '/dataset/verifier_config' : '/scorer';
  return (
    <>
      <Head />
      <Problem error={sampleError} />
      <div class="form-page">
        <form onSubmit={(event) => event.preventDefault()}>
          <KindChoice />
          {onRows ? (
            <DataPanel
              dataset={dataset}
              facts={facts}
              error={datasetError ?? at('/dataset', ['/input', '/expected', '/initial_prompt', '/verifier_config'])}
              errorAt={at}
            />
          ) : (
            <ContainerPanel errorAt={at} />
          )}
          <PromptPanel
            columns={onRows ? dataset?.columns.map(({ name }) => name) : undefined}
            error={at(prompt)}
            drafted={onRows ? guesses.prompt : undefined}
          />
          <ModelPanel errorAt={at} />
          {onRows && (
            <Panel title="4. Score">
              <ScorerFields
                draft={draft.value.scorer}
                onChange={(next) => change({ scorer: next, guessedScorer: null })}
                errorAt={(field) => (field === '' ? at(scorer, fieldsOfScorer()) : at(`${scorer}/${field}`))}
              />
              {guesses.scorer?.type === draft.value.scorer.type && <GuessNote guess={guesses.scorer} />}
            </Panel>
          )}
          <TryPanel missing={missingToTry(draft.value)} tried={tried} onTried={setTried} />
          <BudgetPanel
            estimate={estimate.answer?.estimate}
            tried={tried?.answer ?? null}
            errorAt={at}
            rowsName={dataset?.name}
          />
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

function Head() {
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
      {replaced.value && (
        <p class="note bar" role="status">
          What the form held was replaced.
          <button type="button" class="button button-small" onClick={undo}>
            Undo
          </button>
        </p>
      )}
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
  'container_url',
  'env_name',
  'seeds',
  'rollout_budget',
].map((name) => `/${name}`);

const fieldsOfScorer = () => scorerForms[draft.value.scorer.type]!.fields.map(({ name }) => `/${name}`);

function GuessNote({ guess }: { guess: ScorerGuess }) {
  const text = guessText(guess);
  return text && <p class="quiet">{text}</p>;
}

/** Starts the run of the form. `startError`: why the last start failed, and of which request. */
function useStart(kind: Draft['kind'], body: ReturnType<typeof requestOfForm> | undefined, request: string | null) {
  const [startError, setStartError] = useState<{ of: string; error: unknown } | null>(null);
  const onStart = async () => {
    try {
      go(pageOf(await start(kind, body)));
    } catch (caught) {
      setStartError({ of: request!, error: caught });
    }
  };
  return { startError, onStart };
}

/** The answers of the last try, as long as the form is about the same rows. */
function useTried() {
  const source = sourceOfDraft(draft.value);
  const [last, setLast] = useState<{ source: string; tried: TriedForm } | null>(null);
  const tried = source !== '' && last?.source === source ? last.tried : null;
  return { tried, setTried: (next: TriedForm) => setLast({ source, tried: next }) };
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
      .then(replace, setError)
      .finally(() => setQuery({ sample: null }));
  }, [isAsked]);
  return error;
}
