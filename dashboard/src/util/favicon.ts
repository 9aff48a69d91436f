/** The icon of the browser's tab, drawn with the progress of a job. */

const colors = { running: '#2f6f5e', paused: '#855400', done: '#1d6f42', failed: '#ad2b22' };

/** `share`: from 0 to 1; null: the icon of the product. */
export function setFavicon(state: keyof typeof colors | null, share = 0): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (link)
    link.href = state === null ? '/favicon.svg' : `data:image/svg+xml,${encodeURIComponent(drawn(state, share))}`;
}

/** A ring that closes; at the end a full square. */
function drawn(state: keyof typeof colors, share: number): string {
  const color = colors[state];
  const around = 2 * Math.PI * 11;
  const ring = `<circle cx="16" cy="16" r="11" fill="none" stroke-width="8" stroke="#8884"/>
    <circle cx="16" cy="16" r="11" fill="none" stroke-width="8" stroke="${color}" stroke-dasharray="${share * around} ${around}" transform="rotate(-90 16 16)"/>`;
  const path = state === 'done' ? 'M8 17l6 6 11-13' : 'M9 9l14 14M23 9L9 23';
  const end = `<rect width="32" height="32" rx="7" fill="${color}"/><path d="${path}" fill="none" stroke="#fff" stroke-width="4" stroke-linecap="round"/>`;
  const isOpen = state === 'running' || state === 'paused';
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${isOpen ? ring : end}</svg>`;
}
