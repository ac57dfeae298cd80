import { type RefObject, useEffect, useRef } from 'react';

/** Where a list has to scroll to for a part of it to stand in its middle; browsers keep it within the ends. */
export const centred = (part: { offsetLeft: number; offsetWidth: number }, room: number): number =>
  part.offsetLeft - (room - part.offsetWidth) / 2;

/** For a list of links in one line that scrolls sideways: the current one stays in view, at any width. */
export function useCurrentInView(current: string): RefObject<HTMLElement | null> {
  const list = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another current link is another one to show
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
