import { useEffect, useState } from 'preact/hooks';
import { Loading, Problem } from '../../ui/basics.js';
import { Heading } from '../../ui/heading.js';
import { fitsForm } from './form/from-request.js';
import { JsonRunPage } from './json-page.js';
import { begin, choiceOfAddress, clear, isSame, original } from './form/original.js';
import { NewRunPage } from './page.js';

/** The form of a new run, which the address may fill with another one. */
export function RunFormPage() {
  const choice = choiceOfAddress();
  const isLoaded = isSame(choice, original.value);
  const [failed, setFailed] = useState<{ of: string; error: unknown } | null>(null);
  const key = JSON.stringify(choice);
  useEffect(() => {
    if (isLoaded) return;
    if (choice === null) return clear();
    const stopping = new AbortController();
    begin(choice, stopping.signal).catch((error: unknown) => {
      if (!stopping.signal.aborted) setFailed({ of: key, error });
    });
    return () => stopping.abort();
  }, [key, isLoaded]);
  const source = original.value?.source;
  if (isLoaded) return source && !fitsForm(source) ? <JsonRunPage /> : <NewRunPage />;
  return (
    <>
      <Heading title="New run" />
      {failed?.of === key ? <Problem error={failed.error} /> : <Loading />}
    </>
  );
}
