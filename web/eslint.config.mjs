// The lint rules of the report page. Type-aware rules run over everything that ships; innerHTML and its
// relatives are forbidden outright, because class and thread names come from files nobody has vetted.
import tseslint from "typescript-eslint";

const noMarkupFromData = ["innerHTML", "outerHTML", "insertAdjacentHTML"].map((name) => ({
  selector: `MemberExpression[property.name='${name}']`,
  message: "Text from a report is inserted as text nodes only.",
}));

export default tseslint.config(
  { ignores: ["dist/", "test-out/", "node_modules/", "build/", "eslint.config.mjs"] },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "no-restricted-syntax": ["error", ...noMarkupFromData],
      "no-restricted-globals": ["error", "fetch", "XMLHttpRequest", "WebSocket", "eval"],
      eqeqeq: "error",
      "prefer-const": "error",
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      "@typescript-eslint/explicit-module-boundary-types": "error",
      "@typescript-eslint/no-non-null-assertion": "error",
    },
  },
  {
    // node:test's `test()` returns a promise that the runner itself awaits.
    files: ["test/**"],
    rules: { "@typescript-eslint/no-floating-promises": "off" },
  },
);
