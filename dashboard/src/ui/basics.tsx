/** Small parts of all pages. */
import { cloneElement, isValidElement, type ComponentChildren, type JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { isSilence, silentSince } from '../data/connection.js';
import { agoNow } from '../util/now.js';
import { clock, fullClock, messageOf, words } from '../util/format.js';

/** A status with its color; `text` says it in other words. */
export function Badge({ status, text }: { status: string; text?: string }) {
  return <span class={`badge badge-${status}`}>{text ?? words(status)}</span>;
}

/** Marks a job whose workflow task fails; the title says why. */
export function StuckBadge({ stuck }: { stuck: { cause: string; message: string } | null }) {
  if (!stuck) return null;
  return (
    <span class="badge badge-failed" title={`${words(stuck.cause)}: ${stuck.message}`}>
      stuck
    </span>
  );
}

export function Tag({ children }: { children: ComponentChildren }) {
  return <span class="tag">{children}</span>;
}

/** How long ago, with the exact time as a title. */
export function Time({ at }: { at: string | null | undefined }) {
  if (!at) return <>–</>;
  return (
    <time dateTime={at} title={fullClock(at)}>
      {agoNow(at)}
    </time>
  );
}

/** A time of day, with its date unless that is today. */
export function Clock({ at }: { at: string }) {
  return (
    <time class="quiet" dateTime={at} title={fullClock(at)}>
      {clock(at)}
    </time>
  );
}

/** A failure, where it happened. */
export function Problem({ error }: { error: unknown }) {
  // One banner says that the service does not answer.
  if (error === undefined || error === null || (silentSince.value !== null && isSilence(error))) return null;
  return (
    <p class="problem" role="alert">
      {messageOf(error)}
    </p>
  );
}

export function Loading() {
  return (
    <p class="quiet" role="status">
      Loading …
    </p>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}

/** A part of a page with a heading. */
export function Panel(props: { title: string; aside?: ComponentChildren; children: ComponentChildren; id?: string }) {
  return (
    <section class="panel" id={props.id} aria-label={props.title}>
      <header class="panel-head">
        <h2>{props.title}</h2>
        {props.aside}
      </header>
      {props.children}
    </section>
  );
}

/** A figure with its name. */
export function Stat({
  name,
  children,
  hint,
}: {
  name: string;
  children: ComponentChildren;
  hint?: string | undefined;
}) {
  return (
    <div class="stat" title={hint}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

export function Stats({ children }: { children: ComponentChildren }) {
  return <dl class="stats">{children}</dl>;
}

/** A labelled control; the hint and the error describe it. */
export function Field(props: {
  label: string;
  hint?: string;
  error?: string | undefined;
  children: ComponentChildren;
}) {
  const { label, hint, error, children } = props;
  const id = useId();
  const described = { ...((hint || error) && { 'aria-describedby': id }), ...(error && { 'aria-invalid': true }) };
  return (
    <div class="field">
      <label class="field">
        <span class="field-label">{label}</span>
        {isValidElement(children) ? cloneElement(children, described) : children}
      </label>
      <div id={id}>
        {hint && <span class="field-hint">{hint}</span>}
        {error && (
          <span class="field-error" role="alert">
            {error}
          </span>
        )}
      </div>
    </div>
  );
}

/** A button whose work is a call: disabled while it runs, says why it failed. */
export function ActionButton({
  run,
  children,
  kind = 'plain',
  ...rest
}: {
  run: () => Promise<unknown>;
  children: ComponentChildren;
  kind?: 'plain' | 'primary' | 'danger';
} & Omit<JSX.IntrinsicElements['button'], 'onClick' | 'kind'>) {
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const onClick = () => {
    setRunning(true);
    setError(null);
    run()
      .catch(setError)
      .finally(() => setRunning(false));
  };
  return (
    <>
      <button
        {...rest}
        type="button"
        class={`button button-${kind}`}
        disabled={isRunning || rest.disabled}
        onClick={onClick}
      >
        {children}
      </button>
      <Problem error={error} />
    </>
  );
}
