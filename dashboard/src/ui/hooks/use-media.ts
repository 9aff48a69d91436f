import { useEffect, useState } from 'preact/hooks';

/** Whether a media query holds, such as `(max-width: 760px)`. */
export function useMedia(query: string): boolean {
  const [isMet, setMet] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const read = () => setMet(media.matches);
    read();
    media.addEventListener('change', read);
    return () => media.removeEventListener('change', read);
  }, [query]);
  return isMet;
}
