"""How an endpoint says what it takes and gives, for the OpenAPI document."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema

_Handler = TypeVar("_Handler", bound=Callable[..., Any])


def takes(
    request: Any,
    *,
    gives: Mapping[int, Any] | None = None,
    examples: Sequence[OpenApiExample] = (),
    parameters: Sequence[Any] = (),
) -> Callable[[_Handler], _Handler]:
    """A body by its serializer, answers by status, examples."""
    return _typed(
        extend_schema(
            request=request,
            responses=dict(gives) if gives else None,
            examples=list(examples),
            parameters=list(parameters),
        )
    )


def gives(
    responses: Any, *, parameters: Sequence[OpenApiParameter] = ()
) -> Callable[[_Handler], _Handler]:
    """Answers by status or serializer, and parameters of the query."""
    return _typed(extend_schema(responses=responses, parameters=list(parameters)))


def query(name: str, kind: type, description: str, **more: Any) -> OpenApiParameter:
    """A parameter of the query."""
    return OpenApiParameter(name, kind, description=description, **more)


def _typed(decorator: Any) -> Callable[[_Handler], _Handler]:
    return decorator  # type: ignore[no-any-return]
