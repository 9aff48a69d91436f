import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { focusHeading, setTitle } from '../util/navigation.js';

/** The heading of a page: names the tab of the browser, and gets the focus when the page opens. */
export function Heading({ title, children }: { title: string; children?: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => setTitle(title), [title]);
  useEffect(() => focusHeading(heading.current!), []);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children ?? title}
    </h1>
  );
}
