import { useEffect, useRef, useState } from 'preact/hooks';
import { shortId } from '../../util/format.js';
import { link, route, setQuery } from '../../util/router.js';
import { Empty, Panel, Problem } from '../../ui/basics.js';
import { Heading } from '../../ui/heading.js';
import { AnswerPanel } from './answer.js';
import { ask, notAsked, type AskedAnswer } from './ask.js';
import { DeploymentChoice } from './choice.js';
import { asksUsage, useBaselineLink, useDeployments, useServed, type Served } from './data.js';
import { History } from './history-panel.js';
import { remember } from './history.js';
import { fieldsOf, inputText, valuesOf } from './input.js';
import { InputForm } from './input-form.js';

interface Column {
  ref: string;
  served: Served | undefined;
}

/** Asks a deployment, and another beside it, the same. */
export function PlaygroundPage() {
  const { data: listed, error } = useDeployments();
  const { query } = route.value;
  const deployments = listed?.deployments ?? [];
  const chosen = query.get('deployment') ?? deployments.find(({ live }) => live)?.name ?? '';
  const beside = query.get('beside') ?? '';
  const first = useServed(chosen);
  const second = useServed(beside);
  const baseline = useBaselineLink(first.data);
  const fields = fieldsOf(first.data?.snapshot);
  const [values, setValues] = useState<Record<string, string>>({});
  const input = inputText(fields, values);
  const columns: Column[] = [
    { ref: chosen, served: first.data },
    { ref: beside, served: second.data },
  ];
  const { answers, isRunning, send, stop } = useAnswers(columns);
  const canSend = chosen !== '' && input.trim() !== '' && !isRunning;
  const onSend = () => {
    if (!canSend) return;
    remember(input);
    send(input);
  };
  if (listed?.deployments.length === 0) return <NothingDeployed />;
  return (
    <>
      <div class="page-head">
        <Heading title="Playground" />
      </div>
      <Problem error={error ?? first.error ?? second.error} />
      <div class="form-page">
        <div>
          <Panel title="Input">
            <div class="form-pair">
              <DeploymentChoice
                label="Deployment"
                none="Choose …"
                {...{ deployments, value: chosen }}
                onChange={(ref) => setQuery({ deployment: ref || null })}
              />
              <DeploymentChoice
                label="Compare with"
                none="No other deployment"
                {...{ deployments, value: beside }}
                onChange={(ref) => setQuery({ beside: ref || null })}
              />
            </div>
            {baseline && (
              <p class="quiet">
                To compare with the prompt before the search, <a href={baseline}>deploy the baseline</a>.
              </p>
            )}
            <InputForm {...{ fields, values, onSend }} onChange={setValues} />
            <div class="actions">
              <button type="button" class="button button-primary" disabled={!canSend} onClick={onSend}>
                Send
              </button>
              <button type="button" class="button" disabled={!isRunning} onClick={stop}>
                Stop
              </button>
              <span class="quiet">Ctrl + Enter sends.</span>
            </div>
          </Panel>
          <div class="grid">
            {columns.map(
              ({ ref, served }, n) =>
                ref !== '' && (
                  <AnswerPanel key={n} title={titleOf(ref, served)} served={served} answer={answers[keyOf(n, ref)]} />
                ),
            )}
          </div>
        </div>
        <aside class="form-summary">
          <History onChoose={(text) => setValues(valuesOf(fields, text))} />
        </aside>
      </div>
    </>
  );
}

function titleOf(ref: string, served: Served | undefined): string {
  if (!served) return ref;
  const { name, live, id } = served.deployment;
  return live ? `${name}, live` : `${name}, ${shortId(id)}`;
}

/** An answer belongs to its column and its deployment: another choice has none yet. */
const keyOf = (column: number, ref: string): string => `${column} ${ref}`;

function useAnswers(columns: Column[]) {
  const [answers, setAnswers] = useState<Record<string, AskedAnswer>>({});
  const stopping = useRef(new AbortController());
  useEffect(() => () => stopping.current.abort(), []);
  const isRunning = Object.values(answers).some(({ totalMs }) => totalMs === null);
  const send = (input: string) => {
    stopping.current = new AbortController();
    const { signal } = stopping.current;
    const asked = columns.flatMap(({ ref, served }, n) => (ref === '' ? [] : [{ ref, served, n }]));
    setAnswers(Object.fromEntries(asked.map(({ n, ref }) => [keyOf(n, ref), notAsked])));
    for (const { ref, served, n } of asked)
      void ask({ model: ref, input, asksUsage: asksUsage(served) }, signal, (answer) =>
        setAnswers((last) => ({ ...last, [keyOf(n, ref)]: answer })),
      );
  };
  return { answers, isRunning, send, stop: () => stopping.current.abort() };
}

function NothingDeployed() {
  return (
    <Empty>
      <Heading title="Playground" />
      <p>Nothing is deployed, so there is nothing to ask.</p>
      <a class="button button-primary" href={link([])}>
        Choose a run to deploy
      </a>
    </Empty>
  );
}
