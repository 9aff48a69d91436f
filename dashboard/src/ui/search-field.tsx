import { useEffect, useState } from 'preact/hooks';

/** A text to search for, given on Enter. What is being typed stays when the page reads new data. */
export function SearchField({ value, onSearch }: { value: string; onSearch: (text: string) => void }) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  return (
    <input
      type="search"
      aria-label="Search rows"
      placeholder="Search texts and answers"
      value={typed}
      maxLength={500}
      onInput={(event) => setTyped(event.currentTarget.value)}
      onChange={(event) => onSearch(event.currentTarget.value)}
    />
  );
}
