// Made by generate.ts; not to be edited.
export interface paths {
    "/v2/categories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listCategories"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/categories/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getCategory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/customers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listCustomers"];
        put?: never;
        post: operations["createCustomer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/customers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getCustomer"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch: operations["changeCustomer"];
        trace?: never;
    };
    "/v2/order-batches": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createOrderBatches"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/order-exports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listOrderExports"];
        put?: never;
        post: operations["createOrderExport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/order-exports/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getOrderExport"];
        put?: never;
        post?: never;
        delete: operations["deleteOrderExport"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/order-exports/{id}/files/{fileId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listOrderExportFiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/orders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listOrders"];
        put?: never;
        post: operations["createOrder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/orders/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getOrder"];
        put?: never;
        post?: never;
        delete: operations["deleteOrder"];
        options?: never;
        head?: never;
        patch: operations["changeOrder"];
        trace?: never;
    };
    "/v2/orders/{id}/cancellations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createOrderCancellation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/orders/{id}/items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listOrderItems"];
        put?: never;
        post: operations["createOrderItem"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/orders/{id}/items/{itemId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getOrderItem"];
        put?: never;
        post?: never;
        delete: operations["deleteOrderItem"];
        options?: never;
        head?: never;
        patch: operations["changeOrderItem"];
        trace?: never;
    };
    "/v2/products": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listProducts"];
        put?: never;
        post: operations["createProduct"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/products/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getProduct"];
        put: operations["replaceProduct"];
        post?: never;
        delete: operations["deleteProduct"];
        options?: never;
        head?: never;
        patch: operations["changeProduct"];
        trace?: never;
    };
    "/v2/products/{id}/images": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listProductImages"];
        put?: never;
        post: operations["createProductImage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/products/{id}/images/{imageId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getProductImage"];
        put?: never;
        post?: never;
        delete: operations["deleteProductImage"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/token-revocations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createTokenRevocation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/webhook-subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listWebhookSubscriptions"];
        put?: never;
        post: operations["createWebhookSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/webhook-subscriptions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWebhookSubscription"];
        put?: never;
        post?: never;
        delete: operations["deleteWebhookSubscription"];
        options?: never;
        head?: never;
        patch: operations["changeWebhookSubscription"];
        trace?: never;
    };
    "/v2/webhook-subscriptions/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listWebhookSubscriptionDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/webhook-subscriptions/{id}/deliveries/{deliveryId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWebhookSubscriptionDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/webhook-subscriptions/{id}/deliveries/{deliveryId}/attempts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listWebhookSubscriptionDeliveryAttempts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/webhook-subscriptions/{id}/deliveries/{deliveryId}/redeliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createWebhookSubscriptionDeliveryRedelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/webhook-subscriptions/{id}/pings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createWebhookSubscriptionPing"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/webhook-subscriptions/{id}/recoveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createWebhookSubscriptionRecovery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/webhook-subscriptions/{id}/secrets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createWebhookSubscriptionSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "order.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.order.created"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "order.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.order.updated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "order.cancelled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.order.cancelled"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "product.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.product.updated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhook.subscription.disabled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.webhook.subscription.disabled"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhook.ping": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.webhook.ping"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        Category: {
            id: string;
            name: string;
            description?: string;
        };
        CursorListMeta: {
            version: string;
            timestamp: string;
            pagination: components["schemas"]["CursorPagination"];
        };
        CursorListMeta2: {
            version: string;
            timestamp: string;
            pagination: components["schemas"]["CursorPagination2"];
        };
        CursorPagination: {
            perPage: number;
            totalPages: number;
            totalItems: number;
            totalItemsExact?: false;
        };
        CursorPagination2: {
            perPage: number;
        };
        Customer: {
            id: string;
            companyName: string;
            contactName: string;
            email: string;
            country: string;
            createdAt: string;
        };
        CustomerChanges: {
            companyName?: string;
            contactName?: string;
            email?: string;
            country?: string;
        };
        ErrorDetail: {
            status: number;
            error: string;
            message: string;
            code: string;
            errors?: components["schemas"]["FieldError"][];
        };
        FieldError: {
            field: string;
            message: string;
        };
        Link: {
            rel: string;
            href: string;
            method: string;
        };
        ListMeta: {
            version: string;
            timestamp: string;
            pagination: components["schemas"]["Pagination"];
        };
        Meta: {
            version: string;
            timestamp: string;
        };
        NewCustomer: {
            companyName: string;
            contactName: string;
            email: string;
            country: string;
        };
        NewOrder: {
            customerId?: string;
            items: {
                productId: string;
                quantity: number;
            }[];
            note?: string;
        };
        NewOrderBatch: {
            operations: {
                id: string;
                method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
                path: string;
                headers?: {
                    [key: string]: string;
                };
                body?: unknown;
            }[];
            atomic: boolean;
        };
        NewOrderCancellation: {
            reason?: string;
        };
        NewOrderExport: {
            status?: {
                eq?: "pending" | "paid" | "shipped" | "cancelled";
                ne?: "pending" | "paid" | "shipped" | "cancelled";
                in?: ("pending" | "paid" | "shipped" | "cancelled")[];
            };
            customerId?: {
                eq?: string;
            };
            placedAt?: {
                gt?: string;
                gte?: string;
                lt?: string;
                lte?: string;
            };
            total?: {
                eq?: string;
                gt?: string;
                gte?: string;
                lt?: string;
                lte?: string;
            };
        };
        NewOrderItem: {
            productId: string;
            quantity: number;
        };
        NewProduct: {
            name: string;
            description?: string;
            categoryId: string;
            unitPrice: string;
            currency: string;
            unitsInStock: number;
            discontinued: boolean;
        };
        NewToken: {
            username?: string;
            password?: string;
            refreshToken?: string;
        };
        NewTokenRevocation: {
            token: string;
        };
        NewWebhookSubscription: {
            url: string;
            eventTypes: string[];
            description?: string;
            ordered: boolean;
            signature: "hmac-sha256" | "ed25519";
        };
        NewWebhookSubscriptionRecovery: {
            since: string;
            until?: string;
        };
        Order: {
            id: string;
            customerId: string;
            status: "pending" | "paid" | "shipped" | "cancelled";
            placedAt: string;
            total: {
                amount: string;
                currency: string;
            };
            shippedAt?: string;
            note?: string;
        };
        OrderBatch: {
            id: string;
            status: number;
            headers?: {
                [key: string]: string;
            };
            body?: unknown;
        };
        OrderCancellation: {
            orderId: string;
            cancelledAt: string;
            reason?: string;
        };
        OrderCancelledEvent: {
            type: "order.cancelled";
            timestamp: string;
            data: components["schemas"]["Order"];
        };
        OrderChanges: {
            status?: "pending" | "paid" | "shipped" | "cancelled";
            note?: string;
        };
        OrderCreatedEvent: {
            type: "order.created";
            timestamp: string;
            data: components["schemas"]["Order"];
        };
        OrderExport: {
            jobId: string;
            status: "queued" | "processing" | "completed" | "failed" | "cancelled";
            createdAt: string;
        };
        OrderExport2: {
            jobId: string;
            status: "queued" | "processing" | "completed" | "failed" | "cancelled";
            progress?: number;
            error?: {
                code: string;
                message: string;
            };
            _links: {
                rel: string;
                href: string;
                method: string;
            }[];
        };
        OrderExportFile: {
            id: string;
            customerId: string;
            status: "pending" | "paid" | "shipped" | "cancelled";
            placedAt: string;
            total: {
                amount: string;
                currency: string;
            };
            shippedAt?: string;
            note?: string;
        };
        OrderItem: {
            id: string;
            productId: string;
            quantity: number;
            unitPrice: string;
        };
        OrderItemChanges: {
            quantity?: number;
        };
        OrderUpdatedEvent: {
            type: "order.updated";
            timestamp: string;
            data: components["schemas"]["Order"];
        };
        Pagination: {
            page: number;
            perPage: number;
            totalPages: number;
            totalItems: number;
        };
        Product: {
            id: string;
            name: string;
            description?: string;
            categoryId: string;
            unitPrice: string;
            currency: string;
            unitsInStock: number;
            discontinued: boolean;
            createdAt: string;
            updatedAt: string;
        };
        ProductChanges: {
            name?: string;
            description?: string;
            categoryId?: string;
            unitPrice?: string;
            currency?: string;
            unitsInStock?: number;
            discontinued?: boolean;
        };
        ProductImage: {
            id: string;
            productId: string;
            mediaType: "image/png" | "image/jpeg";
            width: number;
            height: number;
            sizeBytes: number;
            createdAt: string;
        };
        ProductReplacement: {
            name: string;
            description?: string;
            categoryId: string;
            unitPrice: string;
            currency: string;
            unitsInStock: number;
            discontinued: boolean;
            id?: string;
            createdAt?: string;
            updatedAt?: string;
        };
        ProductUpdatedEvent: {
            type: "product.updated";
            timestamp: string;
            data: components["schemas"]["Product"];
        };
        Token: {
            accessToken: string;
            tokenType: "Bearer";
            expiresIn: number;
            refreshToken: string;
        };
        TokenRevocation: {
            revokedAt: string;
        };
        WebhookAttempt: {
            id: string;
            number: number;
            startedAt: string;
            durationMilliseconds: number;
            statusCode?: number;
            failure?: "URL_REFUSED" | "ADDRESS_REFUSED" | "HOST_NOT_FOUND" | "CONNECTION_FAILED" | "TLS_FAILED" | "TIMEOUT" | "RESPONSE_INVALID";
        };
        WebhookDelivery: {
            id: string;
            messageId: string;
            eventType: string;
            status: "pending" | "delivered" | "failed" | "cancelled";
            attempts: number;
            createdAt: string;
            nextAttemptAt?: string;
            endedAt?: string;
        };
        WebhookPingEvent: {
            type: "webhook.ping";
            timestamp: string;
            data: components["schemas"]["WebhookPingEventData"];
        };
        WebhookPingEventData: {
            subscriptionId: string;
        };
        WebhookSubscription: {
            id: string;
            url: string;
            eventTypes: string[];
            description?: string;
            version: number;
            ordered: boolean;
            signature: "hmac-sha256" | "ed25519";
            status: "enabled" | "disabled";
            disabledReason?: "byOwner" | "gone" | "failing" | "orderBroken";
            failingSince?: string;
            publicKey?: string;
            createdAt: string;
            updatedAt: string;
        };
        WebhookSubscriptionChanges: {
            url?: string;
            eventTypes?: string[];
            description?: string | null;
            status?: "enabled" | "disabled";
        };
        WebhookSubscriptionDisabledEvent: {
            type: "webhook.subscription.disabled";
            timestamp: string;
            data: components["schemas"]["WebhookSubscriptionDisabledEventData"];
        };
        WebhookSubscriptionDisabledEventData: {
            subscriptionId: string;
            reason: string;
        };
        WebhookSubscriptionPing: {
            messageId: string;
        };
        WebhookSubscriptionRecovery: {
            since: string;
            until?: string;
        };
        WebhookSubscriptionSecret: {
            secret?: string;
            publicKey?: string;
            oldKeysEndAt?: string;
        };
        WebhookSubscriptionWithSecret: {
            id: string;
            url: string;
            eventTypes: string[];
            description?: string;
            version: number;
            ordered: boolean;
            signature: "hmac-sha256" | "ed25519";
            status: "enabled" | "disabled";
            disabledReason?: "byOwner" | "gone" | "failing" | "orderBroken";
            failingSince?: string;
            publicKey?: string;
            createdAt: string;
            updatedAt: string;
            secret?: string;
        };
    };
    responses: {
        BadRequest: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "CREDENTIALS_IN_URI" | "DUPLICATE_HEADER" | "MALFORMED_REQUEST" | "MALFORMED_URI";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        HttpsRequired: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "HTTPS_REQUIRED";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        NotAcceptable: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "NOT_ACCEPTABLE";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        UriTooLong: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "URI_TOO_LONG";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        MisdirectedRequest: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "MISDIRECTED_REQUEST";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        InvalidQueryParameters: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "INVALID_QUERY_PARAMETERS";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        RateLimitExceeded: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "RATE_LIMIT_EXCEEDED";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        HeadersTooLarge: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "HEADERS_TOO_LARGE";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        InternalError: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "INTERNAL_ERROR";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        ServiceUnavailable: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "HANDLER_TIMEOUT" | "RATE_LIMIT_UNAVAILABLE" | "SERVICE_OVERLOADED" | "SERVICE_UNAVAILABLE";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        ResourceNotFound: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "RESOURCE_NOT_FOUND";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        BadRequest2: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "CREDENTIALS_IN_URI" | "DUPLICATE_HEADER" | "INVALID_AUTHORIZATION" | "MALFORMED_REQUEST" | "MALFORMED_URI";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        Unauthorized: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "AUTHENTICATION_REQUIRED" | "INVALID_API_KEY" | "INVALID_TOKEN" | "TOKEN_EXPIRED" | "TOKEN_REVOKED";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        Forbidden: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "CROSS_SITE_REQUEST" | "HTTPS_REQUIRED" | "INSUFFICIENT_PERMISSION";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        ServiceUnavailable2: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "AUTHENTICATION_UNAVAILABLE" | "HANDLER_TIMEOUT" | "RATE_LIMIT_UNAVAILABLE" | "SERVICE_OVERLOADED" | "SERVICE_UNAVAILABLE";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        BadRequest3: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "CONTENT_LENGTH_MISMATCH" | "CREDENTIALS_IN_URI" | "DUPLICATE_HEADER" | "EMPTY_BODY" | "INVALID_AUTHORIZATION" | "INVALID_CHARACTER" | "INVALID_UTF8" | "JSON_TOO_DEEP" | "MALFORMED_JSON" | "MALFORMED_REQUEST" | "MALFORMED_URI";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        EmailInUse: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "EMAIL_IN_USE";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        PayloadTooLarge: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "PAYLOAD_TOO_LARGE";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        UnsupportedMediaType: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                Accept: components["headers"]["Accept"];
                "Accept-Patch": components["headers"]["Accept-Patch"];
                "Accept-Post": components["headers"]["Accept-Post"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "UNSUPPORTED_CHARSET" | "UNSUPPORTED_CONTENT_ENCODING" | "UNSUPPORTED_MEDIA_TYPE";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        ValidationFailed: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "VALIDATION_FAILED";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        BadRequest4: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "CONTENT_LENGTH_MISMATCH" | "CREDENTIALS_IN_URI" | "DUPLICATE_HEADER" | "EMPTY_BODY" | "IDEMPOTENCY_BODY_TOO_NESTED" | "IDEMPOTENCY_KEY_INVALID" | "IDEMPOTENCY_KEY_REQUIRED" | "INVALID_AUTHORIZATION" | "INVALID_CHARACTER" | "INVALID_UTF8" | "JSON_TOO_DEEP" | "MALFORMED_JSON" | "MALFORMED_REQUEST" | "MALFORMED_URI";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        Unauthorized2: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "AUTHENTICATION_REQUIRED" | "INVALID_API_KEY" | "INVALID_TOKEN" | "TOKEN_EXPIRED" | "TOKEN_REVOKED";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        Forbidden2: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "CROSS_SITE_REQUEST" | "HTTPS_REQUIRED" | "INSUFFICIENT_PERMISSION";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        NotAcceptable2: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "NOT_ACCEPTABLE";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        Conflict: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "IDEMPOTENCY_IN_PROGRESS" | "IDEMPOTENCY_OUTCOME_UNKNOWN" | "IDEMPOTENCY_RESPONSE_UNAVAILABLE";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        PayloadTooLarge2: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "PAYLOAD_TOO_LARGE";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        UriTooLong2: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "URI_TOO_LONG";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        UnsupportedMediaType2: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                Accept: components["headers"]["Accept"];
                "Accept-Patch": components["headers"]["Accept-Patch"];
                "Accept-Post": components["headers"]["Accept-Post"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "UNSUPPORTED_CHARSET" | "UNSUPPORTED_CONTENT_ENCODING" | "UNSUPPORTED_MEDIA_TYPE";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        MisdirectedRequest2: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "MISDIRECTED_REQUEST";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        UnprocessableEntity: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "BATCH_INVALID" | "IDEMPOTENCY_KEY_REUSED";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        RateLimitExceeded2: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "RATE_LIMIT_EXCEEDED";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        HeadersTooLarge2: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "HEADERS_TOO_LARGE";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        InternalError2: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "INTERNAL_ERROR";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        ServiceUnavailable3: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "AUTHENTICATION_UNAVAILABLE" | "HANDLER_TIMEOUT" | "IDEMPOTENCY_STORE_UNAVAILABLE" | "RATE_LIMIT_UNAVAILABLE" | "SERVICE_OVERLOADED" | "SERVICE_UNAVAILABLE";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        BadRequest5: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "CONTENT_LENGTH_MISMATCH" | "CREDENTIALS_IN_URI" | "DUPLICATE_HEADER" | "EMPTY_BODY" | "IDEMPOTENCY_BODY_TOO_NESTED" | "IDEMPOTENCY_KEY_INVALID" | "INVALID_AUTHORIZATION" | "INVALID_CHARACTER" | "INVALID_UTF8" | "JSON_TOO_DEEP" | "MALFORMED_JSON" | "MALFORMED_REQUEST" | "MALFORMED_URI";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        UnprocessableEntity2: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "IDEMPOTENCY_KEY_REUSED" | "JOB_INPUT_INVALID" | "VALIDATION_FAILED";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        ServiceUnavailable4: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "AUTHENTICATION_UNAVAILABLE" | "HANDLER_TIMEOUT" | "IDEMPOTENCY_STORE_UNAVAILABLE" | "RATE_LIMIT_UNAVAILABLE" | "SERVICE_OVERLOADED" | "SERVICE_UNAVAILABLE" | "TRANSACTION_CONFLICT" | "TRANSACTION_UNAVAILABLE";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        NotFound: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "JOB_NOT_FOUND" | "RESOURCE_NOT_FOUND";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        JobExpired: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "JOB_EXPIRED";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        JobAlreadyOver: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "JOB_ALREADY_OVER";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        UnprocessableEntity3: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "CURSOR_EXPIRED" | "CURSOR_INVALID" | "CURSOR_MISMATCH" | "INVALID_QUERY_PARAMETERS";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        Forbidden3: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "CROSS_SITE_REQUEST" | "FOREIGN_CUSTOMER" | "HTTPS_REQUIRED" | "INSUFFICIENT_PERMISSION";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        Conflict2: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "IDEMPOTENCY_IN_PROGRESS" | "IDEMPOTENCY_OUTCOME_UNKNOWN" | "IDEMPOTENCY_RESPONSE_UNAVAILABLE" | "INSUFFICIENT_STOCK" | "PRODUCT_DISCONTINUED";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        UnprocessableEntity4: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "CUSTOMER_MISSING" | "IDEMPOTENCY_KEY_REUSED" | "MIXED_CURRENCIES" | "UNKNOWN_CUSTOMER" | "UNKNOWN_PRODUCT" | "VALIDATION_FAILED";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        StatusChangeNotAllowed: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "STATUS_CHANGE_NOT_ALLOWED";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        PreconditionFailed: {
            headers: {
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "PRECONDITION_FAILED";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        PreconditionRequired: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "PRECONDITION_REQUIRED";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        ServiceUnavailable5: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "AUTHENTICATION_UNAVAILABLE" | "HANDLER_TIMEOUT" | "RATE_LIMIT_UNAVAILABLE" | "SERVICE_OVERLOADED" | "SERVICE_UNAVAILABLE" | "TRANSACTION_CONFLICT" | "TRANSACTION_UNAVAILABLE";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        ResourceNotFound2: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "RESOURCE_NOT_FOUND";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        Conflict3: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "IDEMPOTENCY_IN_PROGRESS" | "IDEMPOTENCY_OUTCOME_UNKNOWN" | "IDEMPOTENCY_RESPONSE_UNAVAILABLE" | "ORDER_ALREADY_CANCELLED" | "ORDER_ALREADY_SHIPPED";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        UnprocessableEntity5: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "IDEMPOTENCY_KEY_REUSED" | "VALIDATION_FAILED";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        Conflict4: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "INSUFFICIENT_STOCK" | "ORDER_NOT_PENDING" | "PRODUCT_DISCONTINUED";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        UnprocessableEntity6: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "MIXED_CURRENCIES" | "UNKNOWN_PRODUCT" | "VALIDATION_FAILED";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        OrderNotPending: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "ORDER_NOT_PENDING";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        UnprocessableEntity7: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "UNKNOWN_CATEGORY" | "VALIDATION_FAILED";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        ProductInOrders: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "PRODUCT_IN_ORDERS";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        InvalidImage: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "INVALID_IMAGE";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        BadRequest6: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "CONTENT_LENGTH_MISMATCH" | "CREDENTIALS_IN_URI" | "DUPLICATE_HEADER" | "EMPTY_BODY" | "INVALID_CHARACTER" | "INVALID_UTF8" | "JSON_TOO_DEEP" | "MALFORMED_JSON" | "MALFORMED_REQUEST" | "MALFORMED_URI";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        Unauthorized3: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "INVALID_CREDENTIALS" | "REFRESH_TOKEN_EXPIRED" | "REFRESH_TOKEN_INVALID" | "REFRESH_TOKEN_REUSED" | "REFRESH_TOKEN_REVOKED";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        UnprocessableEntity8: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "INVALID_TOKEN_REQUEST" | "VALIDATION_FAILED";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        TooManyRequests: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "LOGIN_ATTEMPTS_EXCEEDED" | "RATE_LIMIT_EXCEEDED";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        ServiceUnavailable6: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "HANDLER_TIMEOUT" | "LOGINS_OVERLOADED" | "RATE_LIMIT_UNAVAILABLE" | "SERVICE_OVERLOADED" | "SERVICE_UNAVAILABLE";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        Conflict5: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "IDEMPOTENCY_IN_PROGRESS" | "IDEMPOTENCY_OUTCOME_UNKNOWN" | "IDEMPOTENCY_RESPONSE_UNAVAILABLE" | "WEBHOOK_SUBSCRIPTION_LIMIT";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        UnprocessableEntity9: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "IDEMPOTENCY_KEY_REUSED" | "VALIDATION_FAILED" | "WEBHOOK_EVENT_TYPE_UNKNOWN" | "WEBHOOK_URL_REFUSED";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        NotFound2: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "RESOURCE_NOT_FOUND" | "WEBHOOK_SUBSCRIPTION_NOT_FOUND";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        UnprocessableEntity10: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "VALIDATION_FAILED" | "WEBHOOK_EVENT_TYPE_UNKNOWN" | "WEBHOOK_URL_REFUSED";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        NotFound3: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "RESOURCE_NOT_FOUND" | "WEBHOOK_DELIVERY_NOT_FOUND" | "WEBHOOK_SUBSCRIPTION_NOT_FOUND";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        BadRequest7: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "CREDENTIALS_IN_URI" | "DUPLICATE_HEADER" | "IDEMPOTENCY_BODY_TOO_NESTED" | "IDEMPOTENCY_KEY_INVALID" | "INVALID_AUTHORIZATION" | "MALFORMED_REQUEST" | "MALFORMED_URI";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        NotFound4: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "RESOURCE_NOT_FOUND" | "WEBHOOK_DELIVERY_NOT_FOUND" | "WEBHOOK_SUBSCRIPTION_NOT_FOUND";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        Conflict6: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "IDEMPOTENCY_IN_PROGRESS" | "IDEMPOTENCY_OUTCOME_UNKNOWN" | "IDEMPOTENCY_RESPONSE_UNAVAILABLE" | "WEBHOOK_DELIVERY_PENDING" | "WEBHOOK_SUBSCRIPTION_DISABLED";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        IdempotencyKeyReused: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "IDEMPOTENCY_KEY_REUSED";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        NotFound5: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "RESOURCE_NOT_FOUND" | "WEBHOOK_SUBSCRIPTION_NOT_FOUND";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        Conflict7: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "IDEMPOTENCY_IN_PROGRESS" | "IDEMPOTENCY_OUTCOME_UNKNOWN" | "IDEMPOTENCY_RESPONSE_UNAVAILABLE" | "WEBHOOK_SUBSCRIPTION_DISABLED";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
        UnprocessableEntity11: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Request-Id": components["headers"]["Request-Id"];
                Vary: components["headers"]["Vary"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Content-Language": components["headers"]["Content-Language"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["ErrorDetail"] & {
                        code?: "IDEMPOTENCY_KEY_REUSED" | "VALIDATION_FAILED" | "WEBHOOK_RANGE_INVALID";
                    };
                    _links: components["schemas"]["Link"][];
                    _meta: components["schemas"]["Meta"];
                };
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        Accept: string;
        "Accept-Patch": string;
        "Accept-Post": string;
        "Cache-Control": string;
        "Content-Disposition": string;
        "Content-Language": string;
        ETag: string;
        "Idempotency-Replayed": "true";
        Location: string;
        "Preference-Applied": string;
        RateLimit: string;
        "RateLimit-Policy": string;
        "Request-Id": string;
        "Retry-After": number;
        Vary: string;
        "WWW-Authenticate": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listCategories: {
        parameters: {
            query?: {
                sort?: ("name" | "-name")[];
                fields?: ("id" | "name" | "description")[];
                perPage?: number;
                page?: number;
            };
            header?: {
                "If-None-Match"?: string;
                "If-Modified-Since"?: string;
                "Accept-Language"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Category"][];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["ListMeta"];
                    };
                };
            };
            304: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["HttpsRequired"];
            406: components["responses"]["NotAcceptable"];
            414: components["responses"]["UriTooLong"];
            421: components["responses"]["MisdirectedRequest"];
            422: components["responses"]["InvalidQueryParameters"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getCategory: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
                "If-Modified-Since"?: string;
                "Accept-Language"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Category"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            304: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["HttpsRequired"];
            404: components["responses"]["ResourceNotFound"];
            406: components["responses"]["NotAcceptable"];
            414: components["responses"]["UriTooLong"];
            421: components["responses"]["MisdirectedRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listCustomers: {
        parameters: {
            query?: {
                country?: string;
                sort?: ("companyName" | "-companyName" | "createdAt" | "-createdAt")[];
                fields?: ("id" | "companyName" | "contactName" | "email" | "country" | "createdAt")[];
                perPage?: number;
                page?: number;
            };
            header?: {
                "If-None-Match"?: string;
                "If-Modified-Since"?: string;
                "Accept-Language"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Customer"][];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["ListMeta"];
                    };
                };
            };
            304: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest2"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            414: components["responses"]["UriTooLong"];
            421: components["responses"]["MisdirectedRequest"];
            422: components["responses"]["InvalidQueryParameters"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable2"];
        };
    };
    createCustomer: {
        parameters: {
            query?: never;
            header?: {
                "Accept-Language"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCustomer"];
            };
        };
        responses: {
            201: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    Location: components["headers"]["Location"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Customer"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["BadRequest3"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["EmailInUse"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["MisdirectedRequest"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable2"];
        };
    };
    getCustomer: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
                "If-Modified-Since"?: string;
                "Accept-Language"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Customer"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            304: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest2"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["ResourceNotFound"];
            406: components["responses"]["NotAcceptable"];
            414: components["responses"]["UriTooLong"];
            421: components["responses"]["MisdirectedRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable2"];
        };
    };
    changeCustomer: {
        parameters: {
            query?: never;
            header?: {
                "Accept-Language"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CustomerChanges"];
            };
        };
        responses: {
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Customer"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["BadRequest3"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["ResourceNotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["EmailInUse"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["MisdirectedRequest"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable2"];
        };
    };
    createOrderBatches: {
        parameters: {
            query?: never;
            header: {
                "Idempotency-Key": string;
                "Accept-Language"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewOrderBatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OrderBatch"][];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["BadRequest4"];
            401: components["responses"]["Unauthorized2"];
            403: components["responses"]["Forbidden2"];
            406: components["responses"]["NotAcceptable2"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge2"];
            414: components["responses"]["UriTooLong2"];
            415: components["responses"]["UnsupportedMediaType2"];
            421: components["responses"]["MisdirectedRequest2"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["RateLimitExceeded2"];
            431: components["responses"]["HeadersTooLarge2"];
            500: components["responses"]["InternalError2"];
            503: components["responses"]["ServiceUnavailable3"];
        };
    };
    listOrderExports: {
        parameters: {
            query?: {
                sort?: ("createdAt" | "-createdAt")[];
                fields?: ("jobId" | "status" | "createdAt")[];
                perPage?: number;
                page?: number;
            };
            header?: {
                "If-None-Match"?: string;
                "If-Modified-Since"?: string;
                "Accept-Language"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OrderExport"][];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["ListMeta"];
                    };
                };
            };
            304: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest2"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            414: components["responses"]["UriTooLong"];
            421: components["responses"]["MisdirectedRequest"];
            422: components["responses"]["InvalidQueryParameters"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable2"];
        };
    };
    createOrderExport: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
                "Accept-Language"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewOrderExport"];
            };
        };
        responses: {
            202: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    Location: components["headers"]["Location"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OrderExport2"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["BadRequest5"];
            401: components["responses"]["Unauthorized2"];
            403: components["responses"]["Forbidden2"];
            406: components["responses"]["NotAcceptable2"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge2"];
            414: components["responses"]["UriTooLong2"];
            415: components["responses"]["UnsupportedMediaType2"];
            421: components["responses"]["MisdirectedRequest2"];
            422: components["responses"]["UnprocessableEntity2"];
            429: components["responses"]["RateLimitExceeded2"];
            431: components["responses"]["HeadersTooLarge2"];
            500: components["responses"]["InternalError2"];
            503: components["responses"]["ServiceUnavailable4"];
        };
    };
    getOrderExport: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
                "If-Modified-Since"?: string;
                "Accept-Language"?: string;
                Prefer?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OrderExport2"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            304: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest2"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            410: components["responses"]["JobExpired"];
            414: components["responses"]["UriTooLong"];
            421: components["responses"]["MisdirectedRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable2"];
        };
    };
    deleteOrderExport: {
        parameters: {
            query?: never;
            header?: {
                "Accept-Language"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest2"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["JobAlreadyOver"];
            410: components["responses"]["JobExpired"];
            414: components["responses"]["UriTooLong"];
            421: components["responses"]["MisdirectedRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable2"];
        };
    };
    listOrderExportFiles: {
        parameters: {
            query?: never;
            header?: {
                "Accept-Language"?: string;
            };
            path: {
                id: string;
                fileId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Content-Disposition": components["headers"]["Content-Disposition"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OrderExportFile"][];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                    "text/csv": string;
                };
            };
            400: components["responses"]["BadRequest2"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            410: components["responses"]["JobExpired"];
            414: components["responses"]["UriTooLong"];
            421: components["responses"]["MisdirectedRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable2"];
        };
    };
    listOrders: {
        parameters: {
            query?: {
                status?: "pending" | "paid" | "shipped" | "cancelled";
                "status[ne]"?: "pending" | "paid" | "shipped" | "cancelled";
                "status[in]"?: ("pending" | "paid" | "shipped" | "cancelled")[];
                customerId?: string;
                "placedAt[gt]"?: string;
                "placedAt[gte]"?: string;
                "placedAt[lt]"?: string;
                "placedAt[lte]"?: string;
                total?: string;
                "total[gt]"?: string;
                "total[gte]"?: string;
                "total[lt]"?: string;
                "total[lte]"?: string;
                sort?: ("placedAt" | "-placedAt" | "total" | "-total")[];
                fields?: ("id" | "customerId" | "status" | "placedAt" | "total" | "shippedAt" | "note")[];
                perPage?: number;
                after?: string;
            };
            header?: {
                "If-None-Match"?: string;
                "If-Modified-Since"?: string;
                "Accept-Language"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Order"][];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["CursorListMeta"];
                    };
                };
            };
            304: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest2"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            414: components["responses"]["UriTooLong"];
            421: components["responses"]["MisdirectedRequest"];
            422: components["responses"]["UnprocessableEntity3"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable2"];
        };
    };
    createOrder: {
        parameters: {
            query?: never;
            header: {
                "Idempotency-Key": string;
                "Accept-Language"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewOrder"];
            };
        };
        responses: {
            201: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    Location: components["headers"]["Location"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Order"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["BadRequest4"];
            401: components["responses"]["Unauthorized2"];
            403: components["responses"]["Forbidden3"];
            406: components["responses"]["NotAcceptable2"];
            409: components["responses"]["Conflict2"];
            413: components["responses"]["PayloadTooLarge2"];
            414: components["responses"]["UriTooLong2"];
            415: components["responses"]["UnsupportedMediaType2"];
            421: components["responses"]["MisdirectedRequest2"];
            422: components["responses"]["UnprocessableEntity4"];
            429: components["responses"]["RateLimitExceeded2"];
            431: components["responses"]["HeadersTooLarge2"];
            500: components["responses"]["InternalError2"];
            503: components["responses"]["ServiceUnavailable4"];
        };
    };
    getOrder: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
                "If-Modified-Since"?: string;
                "Accept-Language"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Order"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            304: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest2"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["ResourceNotFound"];
            406: components["responses"]["NotAcceptable"];
            414: components["responses"]["UriTooLong"];
            421: components["responses"]["MisdirectedRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable2"];
        };
    };
    deleteOrder: {
        parameters: {
            query?: never;
            header: {
                "If-Match": string;
                "Accept-Language"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest2"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["ResourceNotFound"];
            406: components["responses"]["NotAcceptable"];
            412: components["responses"]["PreconditionFailed"];
            414: components["responses"]["UriTooLong"];
            421: components["responses"]["MisdirectedRequest"];
            428: components["responses"]["PreconditionRequired"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable5"];
        };
    };
    changeOrder: {
        parameters: {
            query?: never;
            header: {
                "If-Match": string;
                "Accept-Language"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OrderChanges"];
            };
        };
        responses: {
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Order"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["BadRequest3"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["ResourceNotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["StatusChangeNotAllowed"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["MisdirectedRequest"];
            422: components["responses"]["ValidationFailed"];
            428: components["responses"]["PreconditionRequired"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable5"];
        };
    };
    createOrderCancellation: {
        parameters: {
            query?: never;
            header: {
                "Idempotency-Key": string;
                "Accept-Language"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewOrderCancellation"];
            };
        };
        responses: {
            201: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    Location: components["headers"]["Location"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OrderCancellation"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["BadRequest4"];
            401: components["responses"]["Unauthorized2"];
            403: components["responses"]["Forbidden2"];
            404: components["responses"]["ResourceNotFound2"];
            406: components["responses"]["NotAcceptable2"];
            409: components["responses"]["Conflict3"];
            413: components["responses"]["PayloadTooLarge2"];
            414: components["responses"]["UriTooLong2"];
            415: components["responses"]["UnsupportedMediaType2"];
            421: components["responses"]["MisdirectedRequest2"];
            422: components["responses"]["UnprocessableEntity5"];
            429: components["responses"]["RateLimitExceeded2"];
            431: components["responses"]["HeadersTooLarge2"];
            500: components["responses"]["InternalError2"];
            503: components["responses"]["ServiceUnavailable4"];
        };
    };
    listOrderItems: {
        parameters: {
            query?: {
                sort?: ("id" | "-id")[];
                fields?: ("id" | "productId" | "quantity" | "unitPrice")[];
                perPage?: number;
                page?: number;
            };
            header?: {
                "If-None-Match"?: string;
                "If-Modified-Since"?: string;
                "Accept-Language"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OrderItem"][];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["ListMeta"];
                    };
                };
            };
            304: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest2"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["ResourceNotFound"];
            406: components["responses"]["NotAcceptable"];
            414: components["responses"]["UriTooLong"];
            421: components["responses"]["MisdirectedRequest"];
            422: components["responses"]["InvalidQueryParameters"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable2"];
        };
    };
    createOrderItem: {
        parameters: {
            query?: never;
            header?: {
                "Accept-Language"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewOrderItem"];
            };
        };
        responses: {
            201: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    Location: components["headers"]["Location"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OrderItem"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["BadRequest3"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["ResourceNotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["Conflict4"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["MisdirectedRequest"];
            422: components["responses"]["UnprocessableEntity6"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable5"];
        };
    };
    getOrderItem: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
                "If-Modified-Since"?: string;
                "Accept-Language"?: string;
            };
            path: {
                id: string;
                itemId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OrderItem"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            304: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest2"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["ResourceNotFound"];
            406: components["responses"]["NotAcceptable"];
            414: components["responses"]["UriTooLong"];
            421: components["responses"]["MisdirectedRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable2"];
        };
    };
    deleteOrderItem: {
        parameters: {
            query?: never;
            header?: {
                "Accept-Language"?: string;
            };
            path: {
                id: string;
                itemId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest2"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["ResourceNotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["OrderNotPending"];
            414: components["responses"]["UriTooLong"];
            421: components["responses"]["MisdirectedRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable5"];
        };
    };
    changeOrderItem: {
        parameters: {
            query?: never;
            header?: {
                "Accept-Language"?: string;
            };
            path: {
                id: string;
                itemId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OrderItemChanges"];
            };
        };
        responses: {
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OrderItem"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["BadRequest3"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["ResourceNotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["Conflict4"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["MisdirectedRequest"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable5"];
        };
    };
    listProducts: {
        parameters: {
            query?: {
                categoryId?: string;
                "categoryId[in]"?: string[];
                unitPrice?: string;
                "unitPrice[gte]"?: string;
                "unitPrice[gt]"?: string;
                "unitPrice[lt]"?: string;
                "unitPrice[lte]"?: string;
                discontinued?: boolean;
                name?: string;
                "name[ne]"?: string;
                "name[prefix]"?: string;
                sort?: ("name" | "-name" | "unitPrice" | "-unitPrice" | "createdAt" | "-createdAt")[];
                fields?: ("id" | "name" | "description" | "categoryId" | "unitPrice" | "currency" | "unitsInStock" | "discontinued" | "createdAt" | "updatedAt")[];
                perPage?: number;
                page?: number;
            };
            header?: {
                "If-None-Match"?: string;
                "If-Modified-Since"?: string;
                "Accept-Language"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Product"][];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["ListMeta"];
                    };
                };
            };
            304: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["HttpsRequired"];
            406: components["responses"]["NotAcceptable"];
            414: components["responses"]["UriTooLong"];
            421: components["responses"]["MisdirectedRequest"];
            422: components["responses"]["InvalidQueryParameters"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createProduct: {
        parameters: {
            query?: never;
            header?: {
                "Accept-Language"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewProduct"];
            };
        };
        responses: {
            201: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    Location: components["headers"]["Location"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Product"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["BadRequest3"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["MisdirectedRequest"];
            422: components["responses"]["UnprocessableEntity7"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable2"];
        };
    };
    getProduct: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
                "If-Modified-Since"?: string;
                "Accept-Language"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Product"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            304: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["HttpsRequired"];
            404: components["responses"]["ResourceNotFound"];
            406: components["responses"]["NotAcceptable"];
            414: components["responses"]["UriTooLong"];
            421: components["responses"]["MisdirectedRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    replaceProduct: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
                "Accept-Language"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProductReplacement"];
            };
        };
        responses: {
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Product"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            201: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    Location: components["headers"]["Location"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Product"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["BadRequest3"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["ResourceNotFound"];
            406: components["responses"]["NotAcceptable"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["MisdirectedRequest"];
            422: components["responses"]["UnprocessableEntity7"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable5"];
        };
    };
    deleteProduct: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
                "Accept-Language"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest2"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["ResourceNotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["ProductInOrders"];
            412: components["responses"]["PreconditionFailed"];
            414: components["responses"]["UriTooLong"];
            421: components["responses"]["MisdirectedRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable5"];
        };
    };
    changeProduct: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
                "Accept-Language"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProductChanges"];
            };
        };
        responses: {
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Product"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["BadRequest3"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["ResourceNotFound"];
            406: components["responses"]["NotAcceptable"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["MisdirectedRequest"];
            422: components["responses"]["UnprocessableEntity7"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable5"];
        };
    };
    listProductImages: {
        parameters: {
            query?: {
                sort?: ("createdAt" | "-createdAt")[];
                fields?: ("id" | "productId" | "mediaType" | "width" | "height" | "sizeBytes" | "createdAt")[];
                perPage?: number;
                page?: number;
            };
            header?: {
                "If-None-Match"?: string;
                "If-Modified-Since"?: string;
                "Accept-Language"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ProductImage"][];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["ListMeta"];
                    };
                };
            };
            304: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["HttpsRequired"];
            404: components["responses"]["ResourceNotFound"];
            406: components["responses"]["NotAcceptable"];
            414: components["responses"]["UriTooLong"];
            421: components["responses"]["MisdirectedRequest"];
            422: components["responses"]["InvalidQueryParameters"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createProductImage: {
        parameters: {
            query?: never;
            header?: {
                "Accept-Language"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "image/png": string;
                "image/jpeg": string;
            };
        };
        responses: {
            201: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    Location: components["headers"]["Location"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ProductImage"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["BadRequest2"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["ResourceNotFound"];
            406: components["responses"]["NotAcceptable"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["MisdirectedRequest"];
            422: components["responses"]["InvalidImage"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable2"];
        };
    };
    getProductImage: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
                "If-Modified-Since"?: string;
                "Accept-Language"?: string;
            };
            path: {
                id: string;
                imageId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Content-Disposition": components["headers"]["Content-Disposition"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ProductImage"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                    "image/png": string;
                    "image/jpeg": string;
                };
            };
            304: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["HttpsRequired"];
            404: components["responses"]["ResourceNotFound"];
            406: components["responses"]["NotAcceptable"];
            414: components["responses"]["UriTooLong"];
            421: components["responses"]["MisdirectedRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    deleteProductImage: {
        parameters: {
            query?: never;
            header?: {
                "Accept-Language"?: string;
            };
            path: {
                id: string;
                imageId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest2"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["ResourceNotFound"];
            406: components["responses"]["NotAcceptable"];
            414: components["responses"]["UriTooLong"];
            421: components["responses"]["MisdirectedRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable2"];
        };
    };
    createTokenRevocation: {
        parameters: {
            query?: never;
            header?: {
                "Accept-Language"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewTokenRevocation"];
            };
        };
        responses: {
            201: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    Location: components["headers"]["Location"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["TokenRevocation"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["BadRequest6"];
            403: components["responses"]["HttpsRequired"];
            406: components["responses"]["NotAcceptable"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["MisdirectedRequest"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createToken: {
        parameters: {
            query?: never;
            header?: {
                "Accept-Language"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewToken"];
            };
        };
        responses: {
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Token"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["BadRequest6"];
            401: components["responses"]["Unauthorized3"];
            403: components["responses"]["HttpsRequired"];
            406: components["responses"]["NotAcceptable"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["MisdirectedRequest"];
            422: components["responses"]["UnprocessableEntity8"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable6"];
        };
    };
    listWebhookSubscriptions: {
        parameters: {
            query?: {
                sort?: ("id" | "-id")[];
                fields?: ("id" | "url" | "eventTypes" | "description" | "version" | "ordered" | "signature" | "status" | "disabledReason" | "failingSince" | "publicKey" | "createdAt" | "updatedAt")[];
                perPage?: number;
                after?: string;
            };
            header?: {
                "If-None-Match"?: string;
                "If-Modified-Since"?: string;
                "Accept-Language"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookSubscription"][];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["CursorListMeta2"];
                    };
                };
            };
            304: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest2"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            414: components["responses"]["UriTooLong"];
            421: components["responses"]["MisdirectedRequest"];
            422: components["responses"]["UnprocessableEntity3"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable2"];
        };
    };
    createWebhookSubscription: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
                "Accept-Language"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewWebhookSubscription"];
            };
        };
        responses: {
            201: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    Location: components["headers"]["Location"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookSubscriptionWithSecret"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["BadRequest5"];
            401: components["responses"]["Unauthorized2"];
            403: components["responses"]["Forbidden2"];
            406: components["responses"]["NotAcceptable2"];
            409: components["responses"]["Conflict5"];
            413: components["responses"]["PayloadTooLarge2"];
            414: components["responses"]["UriTooLong2"];
            415: components["responses"]["UnsupportedMediaType2"];
            421: components["responses"]["MisdirectedRequest2"];
            422: components["responses"]["UnprocessableEntity9"];
            429: components["responses"]["RateLimitExceeded2"];
            431: components["responses"]["HeadersTooLarge2"];
            500: components["responses"]["InternalError2"];
            503: components["responses"]["ServiceUnavailable4"];
        };
    };
    getWebhookSubscription: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
                "If-Modified-Since"?: string;
                "Accept-Language"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookSubscription"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            304: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest2"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound2"];
            406: components["responses"]["NotAcceptable"];
            414: components["responses"]["UriTooLong"];
            421: components["responses"]["MisdirectedRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable2"];
        };
    };
    deleteWebhookSubscription: {
        parameters: {
            query?: never;
            header: {
                "If-Match": string;
                "Accept-Language"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest2"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound2"];
            406: components["responses"]["NotAcceptable"];
            412: components["responses"]["PreconditionFailed"];
            414: components["responses"]["UriTooLong"];
            421: components["responses"]["MisdirectedRequest"];
            428: components["responses"]["PreconditionRequired"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable5"];
        };
    };
    changeWebhookSubscription: {
        parameters: {
            query?: never;
            header: {
                "If-Match": string;
                "Accept-Language"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookSubscriptionChanges"];
            };
        };
        responses: {
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookSubscription"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["BadRequest3"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound2"];
            406: components["responses"]["NotAcceptable"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["MisdirectedRequest"];
            422: components["responses"]["UnprocessableEntity10"];
            428: components["responses"]["PreconditionRequired"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable5"];
        };
    };
    listWebhookSubscriptionDeliveries: {
        parameters: {
            query?: {
                status?: "pending" | "delivered" | "failed" | "cancelled";
                sort?: ("id" | "-id")[];
                fields?: ("id" | "messageId" | "eventType" | "status" | "attempts" | "createdAt" | "nextAttemptAt" | "endedAt")[];
                perPage?: number;
                after?: string;
            };
            header?: {
                "If-None-Match"?: string;
                "If-Modified-Since"?: string;
                "Accept-Language"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookDelivery"][];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["CursorListMeta2"];
                    };
                };
            };
            304: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest2"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound2"];
            406: components["responses"]["NotAcceptable"];
            414: components["responses"]["UriTooLong"];
            421: components["responses"]["MisdirectedRequest"];
            422: components["responses"]["UnprocessableEntity3"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable2"];
        };
    };
    getWebhookSubscriptionDelivery: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
                "If-Modified-Since"?: string;
                "Accept-Language"?: string;
            };
            path: {
                id: string;
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookDelivery"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            304: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest2"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound3"];
            406: components["responses"]["NotAcceptable"];
            414: components["responses"]["UriTooLong"];
            421: components["responses"]["MisdirectedRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable2"];
        };
    };
    listWebhookSubscriptionDeliveryAttempts: {
        parameters: {
            query?: {
                sort?: ("id" | "-id")[];
                fields?: ("id" | "number" | "startedAt" | "durationMilliseconds" | "statusCode" | "failure")[];
                perPage?: number;
                after?: string;
            };
            header?: {
                "If-None-Match"?: string;
                "If-Modified-Since"?: string;
                "Accept-Language"?: string;
            };
            path: {
                id: string;
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookAttempt"][];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["CursorListMeta2"];
                    };
                };
            };
            304: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest2"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound3"];
            406: components["responses"]["NotAcceptable"];
            414: components["responses"]["UriTooLong"];
            421: components["responses"]["MisdirectedRequest"];
            422: components["responses"]["UnprocessableEntity3"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable2"];
        };
    };
    createWebhookSubscriptionDeliveryRedelivery: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
                "Accept-Language"?: string;
            };
            path: {
                id: string;
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    Location: components["headers"]["Location"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookDelivery"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["BadRequest7"];
            401: components["responses"]["Unauthorized2"];
            403: components["responses"]["Forbidden2"];
            404: components["responses"]["NotFound4"];
            406: components["responses"]["NotAcceptable2"];
            409: components["responses"]["Conflict6"];
            414: components["responses"]["UriTooLong2"];
            421: components["responses"]["MisdirectedRequest2"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["RateLimitExceeded2"];
            431: components["responses"]["HeadersTooLarge2"];
            500: components["responses"]["InternalError2"];
            503: components["responses"]["ServiceUnavailable4"];
        };
    };
    createWebhookSubscriptionPing: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
                "Accept-Language"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    Location: components["headers"]["Location"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookSubscriptionPing"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["BadRequest7"];
            401: components["responses"]["Unauthorized2"];
            403: components["responses"]["Forbidden2"];
            404: components["responses"]["NotFound5"];
            406: components["responses"]["NotAcceptable2"];
            409: components["responses"]["Conflict7"];
            414: components["responses"]["UriTooLong2"];
            421: components["responses"]["MisdirectedRequest2"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["RateLimitExceeded2"];
            431: components["responses"]["HeadersTooLarge2"];
            500: components["responses"]["InternalError2"];
            503: components["responses"]["ServiceUnavailable4"];
        };
    };
    createWebhookSubscriptionRecovery: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
                "Accept-Language"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewWebhookSubscriptionRecovery"];
            };
        };
        responses: {
            202: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    Location: components["headers"]["Location"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookSubscriptionRecovery"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["BadRequest5"];
            401: components["responses"]["Unauthorized2"];
            403: components["responses"]["Forbidden2"];
            404: components["responses"]["NotFound5"];
            406: components["responses"]["NotAcceptable2"];
            409: components["responses"]["Conflict7"];
            413: components["responses"]["PayloadTooLarge2"];
            414: components["responses"]["UriTooLong2"];
            415: components["responses"]["UnsupportedMediaType2"];
            421: components["responses"]["MisdirectedRequest2"];
            422: components["responses"]["UnprocessableEntity11"];
            429: components["responses"]["RateLimitExceeded2"];
            431: components["responses"]["HeadersTooLarge2"];
            500: components["responses"]["InternalError2"];
            503: components["responses"]["ServiceUnavailable4"];
        };
    };
    createWebhookSubscriptionSecret: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
                "Accept-Language"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            201: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    Location: components["headers"]["Location"];
                    "Request-Id": components["headers"]["Request-Id"];
                    Vary: components["headers"]["Vary"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookSubscriptionSecret"];
                        _links: components["schemas"]["Link"][];
                        _meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["BadRequest7"];
            401: components["responses"]["Unauthorized2"];
            403: components["responses"]["Forbidden2"];
            404: components["responses"]["NotFound5"];
            406: components["responses"]["NotAcceptable2"];
            409: components["responses"]["Conflict"];
            414: components["responses"]["UriTooLong2"];
            421: components["responses"]["MisdirectedRequest2"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["RateLimitExceeded2"];
            431: components["responses"]["HeadersTooLarge2"];
            500: components["responses"]["InternalError2"];
            503: components["responses"]["ServiceUnavailable4"];
        };
    };
    "webhook.order.created": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": string;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OrderCreatedEvent"];
            };
        };
        responses: {
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content?: never;
            };
            502: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content?: never;
            };
            503: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content?: never;
            };
            504: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content?: never;
            };
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.order.updated": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": string;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OrderUpdatedEvent"];
            };
        };
        responses: {
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content?: never;
            };
            502: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content?: never;
            };
            503: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content?: never;
            };
            504: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content?: never;
            };
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.order.cancelled": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": string;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OrderCancelledEvent"];
            };
        };
        responses: {
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content?: never;
            };
            502: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content?: never;
            };
            503: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content?: never;
            };
            504: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content?: never;
            };
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.product.updated": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": string;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProductUpdatedEvent"];
            };
        };
        responses: {
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content?: never;
            };
            502: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content?: never;
            };
            503: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content?: never;
            };
            504: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content?: never;
            };
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.webhook.subscription.disabled": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": string;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookSubscriptionDisabledEvent"];
            };
        };
        responses: {
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content?: never;
            };
            502: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content?: never;
            };
            503: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content?: never;
            };
            504: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content?: never;
            };
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.webhook.ping": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": string;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookPingEvent"];
            };
        };
        responses: {
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content?: never;
            };
            502: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content?: never;
            };
            503: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content?: never;
            };
            504: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content?: never;
            };
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
