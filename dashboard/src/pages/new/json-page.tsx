import { useState } from 'preact/hooks';
import { fieldErrors } from '../../data/field-errors.js';
import { go, pageOf } from '../../util/router.js';
import { Panel } from '../../ui/basics.js';
import { Heading } from '../../ui/heading.js';
import { isJson } from '../../ui/scorer/draft.js';
import { start, useEstimate } from './form/estimate.js';
import type { Body } from './form/from-request.js';
import { OriginalPanel } from './original-panel.js';
import { change, draft } from './form/store.js';
import { Summary } from './summary.js';

/** A run whose request the form cannot show: on a container, of live traffic, or of a graph. */
export function JsonRunPage() {
  const text = draft.value.json ?? '';
  const body = isJson(text) ? (JSON.parse(text) as Body) : undefined;
  const request = body ? JSON.stringify(body) : null;
  const { kind } = draft.value;
  const estimate = useEstimate(kind, request);
  const [failed, setFailed] = useState<{ of: string; error: unknown } | null>(null);
  const error = failed?.of === request ? failed.error : estimate.error;
  const onStart = () =>
    start(kind, body!).then(
      (id) => go(pageOf(id)),
      (caught: unknown) => setFailed({ of: request!, error: caught }),
    );
  return (
    <>
      <div class="page-head">
        <Heading title="New run" />
      </div>
      <div class="form-page">
        <Panel title="Request">
          <p class="quiet">The form has no fields for this kind of run, so it is changed as JSON.</p>
          <textarea
            class="json-request"
            rows={30}
            spellcheck={false}
            aria-label="Request as JSON"
            value={text}
            onInput={(event) => change({ json: event.currentTarget.value })}
          />
          {!body && (
            <p class="field-error" role="alert">
              The request is not valid JSON.
            </p>
          )}
        </Panel>
        <aside class="form-summary">
          <OriginalPanel request={body} />
          <Summary
            missing={body ? [] : ['a request that is valid JSON']}
            others={fieldErrors(error)}
            onStart={onStart}
            estimate={{ ...estimate, error }}
            hasFieldErrors={false}
          />
        </aside>
      </div>
    </>
  );
}
