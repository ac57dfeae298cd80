import { type RefObject, useEffect, useRef } from 'react';

/** The scroll offset that centres an element; browsers clamp it. */
export const centred = (part: { offsetLeft: number; offsetWidth: number }, width: number): number =>
  part.offsetLeft - (width - part.offsetWidth) / 2;

/** Keeps the current link of a sideways scrolling list in view. */
export function useCurrentInView(current: string): RefObject<HTMLElement | null> {
  const list = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new current link must be scrolled into view
  useEffect(() => {
    const bar = list.current;
    if (bar === null) return;
    const show = (): void => {
      const link = bar.querySelector<HTMLElement>('[aria-current]');
      if (link) bar.scrollLeft = centred(link, bar.clientWidth);
    };
    const resized = new ResizeObserver(show);
    resized.observe(bar);
    return () => resized.disconnect();
  }, [current]);
  return list;
}
