import { Compass } from 'lucide-react';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { buttonClass } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { useTitle } from './title.ts';

/** Shown for a URL without a view. */
export function NotFound(): ReactElement {
  useTitle('Not found');
  return (
    <>
      <h1>Page not found</h1>
      <Empty icon={Compass} title="No view at this address">
        <p>Use the menu to open a view.</p>
        <Link className={buttonClass('main')} href="/overview">
          Open overview
        </Link>
      </Empty>
    </>
  );
}
