import { type ComponentProps, memo, type ReactElement, type ReactNode } from 'react';
import ReactMarkdown, { type Components, type ExtraProps } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { Code } from '../../ui/code.tsx';
import css from './markdown.module.css';

type Node = NonNullable<ExtraProps['node']>;

function textOf(node: Node | Node['children'][number] | undefined): string {
  if (node === undefined) return '';
  if (node.type === 'text') return node.value;
  return 'children' in node ? node.children.map((child) => textOf(child)).join('') : '';
}

function languageOf(node: Node | undefined): string {
  const code = node?.children[0];
  const classes = code?.type === 'element' ? code.properties.className : [];
  const named = Array.isArray(classes)
    ? classes.find((name) => String(name).startsWith('language-'))
    : undefined;
  return named === undefined ? '' : String(named).slice('language-'.length);
}

function Pre(props: ComponentProps<'pre'> & { node?: Node }): ReactElement {
  return (
    <Code text={textOf(props.node).replace(/\n$/, '')} title={languageOf(props.node)} what="the code block" />
  );
}

function Anchor(props: { href?: string | undefined; children?: ReactNode }): ReactElement {
  return (
    <a href={props.href} target="_blank" rel="noopener noreferrer nofollow">
      {props.children}
    </a>
  );
}

/** Renders images as links: loading them would reveal to another server that this answer is being read. */
function MarkdownImage(props: ComponentProps<'img'>): ReactElement {
  return <Anchor href={props.src}>{props.alt || 'image'}</Anchor>;
}

function Table(props: ComponentProps<'table'>): ReactElement {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={css.wide} tabIndex={0} aria-label="Table">
      <table>{props.children}</table>
    </section>
  );
}

const COMPONENTS: Components = { pre: Pre, a: Anchor, img: MarkdownImage, table: Table };
const PLUGINS = [remarkGfm];

/** Renders Markdown safely: no raw HTML, no external images, links without a referrer. */
export const Markdown = memo(function Markdown(props: { text: string }): ReactElement {
  return (
    <div className={css.markdown}>
      <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS} skipHtml>
        {props.text}
      </ReactMarkdown>
    </div>
  );
});
